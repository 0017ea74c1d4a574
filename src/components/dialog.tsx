import { type ReactNode, useId } from "react";
import { Modal } from "./modal";

export type ConfirmDialogProps = {
  open: boolean;
  title: string;
  body: ReactNode;
  confirmLabel: string;
  cancelLabel: string;
  tone?: "danger" | "accent";
  /** While the confirmed work runs: both buttons wait and the dialog cannot be dismissed. */
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

const buttonLook = "inline-flex min-h-12 items-center justify-center gap-2 rounded-card px-5 font-semibold disabled:opacity-60";

/** Asks before something that cannot be taken back. The focus starts on the harmless answer. */
export function ConfirmDialog({ open, title, body, tone = "danger", busy = false, ...props }: ConfirmDialogProps) {
  const id = useId();
  if (!open) return null;
  return (
    <Modal
      role="alertdialog"
      labelledBy={`${id}-title`}
      describedBy={`${id}-body`}
      className="rise m-auto w-[min(26rem,calc(100vw-2rem))] rounded-bubble border border-line bg-surface p-0 text-text shadow-xl backdrop:bg-black/50"
      onDismiss={() => !busy && props.onClose()}
    >
      <div className="p-6">
        <h2 id={`${id}-title`} className="text-xl font-bold break-words">
          {title}
        </h2>
        <div id={`${id}-body`} className="mt-2 text-muted break-words">
          {body}
        </div>
        <div className="mt-6 flex flex-wrap justify-end gap-3">
          <button
            type="button"
            data-autofocus
            disabled={busy}
            className={`${buttonLook} grow border border-line hover:bg-raised sm:grow-0`}
            onClick={props.onClose}
          >
            {props.cancelLabel}
          </button>
          <button
            type="button"
            disabled={busy}
            aria-busy={busy}
            className={`${buttonLook} grow sm:grow-0 ${tone === "danger" ? "bg-danger text-on-accent" : "bg-accent text-on-accent"}`}
            onClick={props.onConfirm}
          >
            {busy && <span className="i-ph-circle-notch animate-spin" aria-hidden="true" />}
            {props.confirmLabel}
          </button>
        </div>
      </div>
    </Modal>
  );
}
