import { type ComponentType, type ReactNode, useState } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import type { StepUpDialogProps } from "./reauthenticate-dialog.tsx";

type OpenStepUpDialog = { Dialog: ComponentType<StepUpDialogProps>; resolve: (isVerified: boolean) => void };

/** Runs the work and returns whether it was done; false if the person cancelled the step-up. */
export type RunWithStepUp = (work: () => Promise<void>) => Promise<boolean>;

/**
 * Runs actions that require a recent authentication: when the server answers `reauthentication_needed`, a dialog asks
 * for a factor and the action is retried. Other errors are thrown. `stepUp` must be rendered.
 */
export const useStepUp = (): { withStepUp: RunWithStepUp; stepUp: ReactNode } => {
  const [openDialog, setOpenDialog] = useState<OpenStepUpDialog>();

  const askForFactor = async (): Promise<boolean> => {
    const module = await loadOrShowToast(() => import("./reauthenticate-dialog.tsx"));
    if (!module) return false;
    const isVerified = await new Promise<boolean>((resolve) => setOpenDialog({ Dialog: module.default, resolve }));
    setOpenDialog(undefined);
    return isVerified;
  };

  const withStepUp: RunWithStepUp = async (work) => {
    for (;;) {
      try {
        await work();
        return true;
      } catch (error) {
        if (toErrorCode(error) !== "reauthentication_needed") throw error;
      }
      if (!(await askForFactor())) return false;
    }
  };

  const stepUp = openDialog && (
    <openDialog.Dialog onVerified={() => openDialog.resolve(true)} onClose={() => openDialog.resolve(false)} />
  );
  return { withStepUp, stepUp };
};
