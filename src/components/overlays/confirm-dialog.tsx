import { type ReactNode, useId } from "react";
import { Button } from "#components/controls/button.tsx";
import { dialogCardClasses, Modal } from "./modal.tsx";

export type ConfirmDialogProps = {
  open: boolean;
  title: string;
  body: ReactNode;
  confirmLabel: string;
  cancelLabel: string;
  tone?: "danger" | "accent";
  /** While the confirmed action runs: both buttons are disabled and the dialog cannot be dismissed. */
  busy?: boolean;
  onConfirm: () => void;
  /** Second way to carry the action out, offered before the first. */
  alternative?: { label: string; onConfirm: () => void } | undefined;
  onClose: () => void;
};

/** Confirmation before an irreversible action. The cancel button has the initial focus. */
export function ConfirmDialog({ open, title, body, tone = "danger", busy = false, ...props }: ConfirmDialogProps) {
  const id = useId();
  if (!open) return null;
  return (
    <Modal
      role="alertdialog"
      labelledBy={`${id}-title`}
      describedBy={`${id}-body`}
      className={dialogCardClasses}
      onDismiss={() => !busy && props.onClose()}
    >
      <div className="p-6">
        <h2 id={`${id}-title`} className="text-xl font-bold break-words text-balance">
          {title}
        </h2>
        <div id={`${id}-body`} className="mt-2 text-muted break-words">
          {body}
        </div>
        <div className={`mt-6 flex gap-3 ${props.alternative ? "flex-col" : "flex-wrap justify-end"}`}>
          <Button variant="secondary" data-autofocus disabled={busy} className="grow" onClick={props.onClose}>
            {props.cancelLabel}
          </Button>
          {props.alternative && (
            <Button
              variant={tone === "danger" ? "danger" : "primary"}
              disabled={busy}
              className="grow"
              onClick={props.alternative.onConfirm}
            >
              {props.alternative.label}
            </Button>
          )}
          <Button
            variant={tone === "danger" ? "danger" : "primary"}
            busy={busy}
            className="grow"
            onClick={props.onConfirm}
          >
            {props.confirmLabel}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
