import { type ComponentType, type ReactNode, useState } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import type { StepUpDialogProps } from "./reauthenticate-dialog.tsx";

type OpenStepUpDialog = { Dialog: ComponentType<StepUpDialogProps>; resolve: (isShown: boolean) => void };

/** Runs the work and returns whether it was done; false if the person cancelled the step-up. */
export type RunWithStepUp = (work: () => Promise<void>) => Promise<boolean>;

/**
 * Runs actions that require a recent authentication: when the server answers `reauthentication_needed`, a dialog asks
 * for a factor and the action is retried. Other errors are thrown. `stepUp` must be rendered.
 */
export const useStepUp = (): { withStepUp: RunWithStepUp; stepUp: ReactNode } => {
  const [asked, setAsked] = useState<OpenStepUpDialog>();

  const ask = async (): Promise<boolean> => {
    const code = await loadOrShowToast(() => import("./reauthenticate-dialog.tsx"));
    if (!code) return false;
    const isShown = await new Promise<boolean>((answer) => setAsked({ Dialog: code.default, resolve: answer }));
    setAsked(undefined);
    return isShown;
  };

  const withProof: RunWithStepUp = async (work) => {
    for (;;) {
      try {
        await work();
        return true;
      } catch (error) {
        if (toErrorCode(error) !== "reauthentication_needed") throw error;
      }
      if (!(await ask())) return false;
    }
  };

  const stepUp = asked && <asked.Dialog onVerified={() => asked.resolve(true)} onClose={() => asked.resolve(false)} />;
  return { withStepUp: withProof, stepUp };
};
