import { type ComponentType, type ReactNode, useState } from "react";
import { t as now } from "../../i18n/setup";
import { ApiFailure } from "../../lib/exchange";
import { leaveNotice } from "../../lib/notice";
import type { Opened } from "../../lib/session";
import type { SecondStepProps } from "./second-step";

type Arrival = {
  /** Leads on from a session that was opened. Throws `ApiFailure` when what the second step needs cannot be fetched. */
  arrive: (opened: Opened) => Promise<void>;
  /** In the form's place, while it is there. */
  secondStep: ReactNode;
};

/** What follows a session's opening: the app, and before it the second step where the session owes one. */
export const useArrival = (onCancel: () => void): Arrival => {
  const [owing, setOwing] = useState<{ opened: Opened; SecondStep: ComponentType<SecondStepProps> }>();

  const enter = () => {
    leaveNotice({ message: now("auth.loginSuccessful") });
    location.replace("/app");
  };
  const arrive = async (opened: Opened) => {
    if (!opened.awaits) return enter();
    const code = await import("./second-step").catch(() => {
      throw new ApiFailure("offline", 0);
    });
    setOwing({ opened, SecondStep: code.default });
  };
  const cancel = () => {
    setOwing(undefined);
    onCancel();
  };
  return {
    arrive,
    secondStep: owing && <owing.SecondStep opened={owing.opened} onDone={enter} onCancel={cancel} />,
  };
};
