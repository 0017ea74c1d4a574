import { type ComponentType, type ReactNode, useState } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import type { StepUpDialogProps } from "./reauthenticate-dialog.tsx";

type OpenStepUpDialog = { Dialog: ComponentType<StepUpDialogProps>; resolve: (isShown: boolean) => void };

/** Does the work; answers whether it was done, and false when its person would not show that they are themselves. */
export type RunWithStepUp = (work: () => Promise<void>) => Promise<boolean>;

/**
 * For what may be changed only shortly after somebody showed who they are: where the server asks for that, a dialog does,
 * and the work goes on. What else goes wrong in it is thrown. `stepUp` has to be rendered.
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
