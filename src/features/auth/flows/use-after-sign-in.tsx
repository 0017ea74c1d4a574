import { type ComponentType, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { t as now } from "#i18n/setup.ts";
import {
  clearPendingSecondFactor,
  clearSecondFactorExpectation,
  findPendingSecondFactor,
  savePendingSecondFactor,
} from "#lib/factors/pending-second-factor.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import type { OpenedSession } from "#lib/session/session.ts";
import { loadSecondFactorStep } from "./load-second-factor-step.ts";
import type { SecondFactorStepProps } from "./second-factor-step.tsx";

type AfterSignInOptions = {
  /** The number as typed. */
  getTypedPhone: () => string;
  /** A reload goes on with the second step: the number that was typed for it. */
  onResumed: (phone: string) => void;
  /** The form is back, for its person wished so or the session is over. */
  onReturnToForm: (why: "cancelled" | "over") => void;
  onFailed: (error: unknown) => void;
};

type AfterSignIn = {
  /** Leads on from a session that was opened. Throws `ApiFailure` when what the second step needs cannot be fetched. */
  continueSignIn: (opened: OpenedSession) => Promise<void>;
  /** In the form's place, while it is there. */
  secondFactorStep: ReactNode;
};

/** What follows a session's opening: the app, and before it the second step where the session owes one. */
export const useAfterSignIn = ({
  getTypedPhone,
  onResumed,
  onReturnToForm,
  onFailed,
}: AfterSignInOptions): AfterSignIn => {
  const [owing, setOwing] = useState<{ opened: OpenedSession; SecondStep: ComponentType<SecondFactorStepProps> }>();

  const enter = () => {
    clearPendingSecondFactor();
    saveFlashMessage({ message: now("auth.loginSuccessful") });
    location.replace("/app");
  };
  const arrive = async (opened: OpenedSession) => {
    if (!opened.awaits) return enter();
    savePendingSecondFactor({ opened, begun: "login", typed: getTypedPhone() });
    setOwing({ opened, SecondStep: await loadSecondFactorStep() });
  };
  const leave = (why: "cancelled" | "over") => {
    clearPendingSecondFactor();
    setOwing(undefined);
    onReturnToForm(why);
  };
  const resume = useEffectEvent(async () => {
    const kept = findPendingSecondFactor("login");
    try {
      // Whoever comes back from a provider has begun anew.
      if (!kept || /[?&](code|error)=/.test(location.search)) return;
      onResumed(kept.typed);
      const SecondStep = await loadSecondFactorStep();
      setOwing({ opened: kept.opened, SecondStep });
    } catch (error) {
      onFailed(error);
    } finally {
      clearSecondFactorExpectation();
    }
  });
  // The page is prerendered for everybody alike.
  useEffect(() => void resume(), []);

  return {
    continueSignIn: arrive,
    secondFactorStep: owing && (
      <owing.SecondStep
        opened={owing.opened}
        onVerified={enter}
        onCancel={() => leave("cancelled")}
        onExpired={() => leave("over")}
      />
    ),
  };
};
