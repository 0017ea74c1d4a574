import { type ComponentType, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { t as translate } from "#i18n/setup.ts";
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
  /** Returns the phone number as typed. */
  getTypedPhone: () => string;
  /** Called when a reload resumes the second-factor step, with the phone number typed before. */
  onResumed: (phone: string) => void;
  /** Called when the form is shown again because the user cancelled or the pending session is over. */
  onReturnToForm: (why: "cancelled" | "over") => void;
  onFailed: (error: unknown) => void;
};

type AfterSignIn = {
  /**
   * Continues with an opened session. Throws `ApiRequestError` if the code of the second-factor step cannot be fetched.
   */
  continueSignIn: (opened: OpenedSession) => Promise<void>;
  /** Second-factor step to render instead of the form, if one is required. */
  secondFactorStep: ReactNode;
};

/**
 * Continues after a session was opened: shows the second-factor step if the session requires one, then opens the app.
 */
export const useAfterSignIn = ({
  getTypedPhone,
  onResumed,
  onReturnToForm,
  onFailed,
}: AfterSignInOptions): AfterSignIn => {
  const [pending, setPending] = useState<{ opened: OpenedSession; Step: ComponentType<SecondFactorStepProps> }>();

  const openApp = () => {
    clearPendingSecondFactor();
    saveFlashMessage({ message: translate("auth.loginSuccessful") });
    location.replace("/app");
  };
  const continueSignIn = async (opened: OpenedSession) => {
    if (!opened.awaits) return openApp();
    savePendingSecondFactor({ opened, begun: "login", typed: getTypedPhone() });
    setPending({ opened, Step: await loadSecondFactorStep() });
  };
  const returnToForm = (why: "cancelled" | "over") => {
    clearPendingSecondFactor();
    setPending(undefined);
    onReturnToForm(why);
  };
  const resume = useEffectEvent(async () => {
    const saved = findPendingSecondFactor("login");
    try {
      // A return from a provider starts a new sign-in.
      if (!saved || /[?&](code|error)=/.test(location.search)) return;
      onResumed(saved.typed);
      const Step = await loadSecondFactorStep();
      setPending({ opened: saved.opened, Step });
    } catch (error) {
      onFailed(error);
    } finally {
      clearSecondFactorExpectation();
    }
  });
  // In an effect: the prerendered page does not know the stored state.
  useEffect(() => void resume(), []);

  return {
    continueSignIn,
    secondFactorStep: pending && (
      <pending.Step
        opened={pending.opened}
        onVerified={openApp}
        onCancel={() => returnToForm("cancelled")}
        onExpired={() => returnToForm("over")}
      />
    ),
  };
};
