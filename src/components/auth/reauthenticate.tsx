import { type ComponentType, type ReactNode, useState } from "react";
import { loadOrTell } from "#components/overlays/load-with-toast.ts";
import { failureCode } from "#lib/http/http-request.ts";
import type { StepUpDialogProps } from "./reauthenticate-dialog.tsx";

type Asked = { Dialog: ComponentType<StepUpDialogProps>; answer: (isShown: boolean) => void };

/** Does the work; answers whether it was done, and false when its person would not show that they are themselves. */
export type WithProof = (work: () => Promise<void>) => Promise<boolean>;

/**
 * For what may be changed only shortly after somebody showed who they are: where the server asks for that, a dialog does,
 * and the work goes on. What else goes wrong in it is thrown. `stepUp` has to be rendered.
 */
export const useStepUp = (): { withProof: WithProof; stepUp: ReactNode } => {
  const [asked, setAsked] = useState<Asked>();

  const ask = async (): Promise<boolean> => {
    const code = await loadOrTell(() => import("./reauthenticate-dialog.tsx"));
    if (!code) return false;
    const isShown = await new Promise<boolean>((answer) => setAsked({ Dialog: code.default, answer }));
    setAsked(undefined);
    return isShown;
  };

  const withProof: WithProof = async (work) => {
    for (;;) {
      try {
        await work();
        return true;
      } catch (error) {
        if (failureCode(error) !== "reauthentication_needed") throw error;
      }
      if (!(await ask())) return false;
    }
  };

  const stepUp = asked && <asked.Dialog onShown={() => asked.answer(true)} onClose={() => asked.answer(false)} />;
  return { withProof, stepUp };
};
