import { type ComponentType, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { t as now } from "#i18n/setup.ts";
import { endExpectation, findOwing, forgetOwing, keepOwing } from "#lib/factors/pending-second-factor.ts";
import { leaveNotice } from "#lib/session/flash-message.ts";
import type { Opened } from "#lib/session/session.ts";
import { loadSecondStep } from "./lazy-second-step.ts";
import type { SecondStepProps } from "./second-step.tsx";

type Use = {
  /** The number as typed. */
  findPhone: () => string;
  /** A reload goes on with the second step: the number that was typed for it. */
  onResumed: (phone: string) => void;
  /** The form is back, for its person wished so or the session is over. */
  onBack: (why: "cancelled" | "over") => void;
  onFailed: (error: unknown) => void;
};

type Arrival = {
  /** Leads on from a session that was opened. Throws `ApiFailure` when what the second step needs cannot be fetched. */
  arrive: (opened: Opened) => Promise<void>;
  /** In the form's place, while it is there. */
  secondStep: ReactNode;
};

/** What follows a session's opening: the app, and before it the second step where the session owes one. */
export const useArrival = ({ findPhone, onResumed, onBack, onFailed }: Use): Arrival => {
  const [owing, setOwing] = useState<{ opened: Opened; SecondStep: ComponentType<SecondStepProps> }>();

  const enter = () => {
    forgetOwing();
    leaveNotice({ message: now("auth.loginSuccessful") });
    location.replace("/app");
  };
  const arrive = async (opened: Opened) => {
    if (!opened.awaits) return enter();
    keepOwing({ opened, begun: "login", typed: findPhone() });
    setOwing({ opened, SecondStep: await loadSecondStep() });
  };
  const leave = (why: "cancelled" | "over") => {
    forgetOwing();
    setOwing(undefined);
    onBack(why);
  };
  const resume = useEffectEvent(async () => {
    const kept = findOwing("login");
    try {
      // Whoever comes back from a provider has begun anew.
      if (!kept || /[?&](code|error)=/.test(location.search)) return;
      onResumed(kept.typed);
      const SecondStep = await loadSecondStep();
      setOwing({ opened: kept.opened, SecondStep });
    } catch (error) {
      onFailed(error);
    } finally {
      endExpectation();
    }
  });
  // The page is prerendered for everybody alike.
  useEffect(() => void resume(), []);

  return {
    arrive,
    secondStep: owing && (
      <owing.SecondStep
        opened={owing.opened}
        onDone={enter}
        onCancel={() => leave("cancelled")}
        onOver={() => leave("over")}
      />
    ),
  };
};
