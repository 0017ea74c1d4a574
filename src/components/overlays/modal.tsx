import { type ReactNode, useLayoutEffect, useRef } from "react";
import { useBackButton } from "./back-button-layers.ts";

type ModalProps = {
  /** Names the dialog to a screen reader; `labelledBy` when a visible heading does. */
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  role?: "dialog" | "alertdialog";
  className?: string;
  /** Escape, the way back, a phone's gesture too, and a tap beside the dialog ask for this. */
  onDismiss: () => void;
  children: ReactNode;
};

/** A card in the middle of the window, as small as what it asks. */
export const dialogCardClasses =
  "rise m-auto w-[min(26rem,calc(100vw-2rem))] rounded-bubble border border-line bg-surface p-0 text-text shadow-xl";

const openDialog = (dialog: HTMLDialogElement): void => {
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-autofocus]")?.focus();
};

/** Where something was pressed in a dialog, Chromium gives the focus back without the caret: letters would go nowhere. */
const restoreCaret = (): void => {
  const { activeElement: field } = document;
  const isField = field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement;
  if (isField && field.selectionStart !== null) field.setSelectionRange(field.selectionStart, field.selectionEnd);
};

/**
 * A modal layer on the platform's own `<dialog>`: top layer, inert page, kept and returned focus. It is open as
 * long as it is rendered. The first element with `data-autofocus` gets the focus.
 */
export function Modal({ label, labelledBy, describedBy, role, className = "", onDismiss, children }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  // A tap beside the dialog begins beside it: the finger whose long press opened it is still to be lifted.
  const hasPressedBeside = useRef(false);
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog) openDialog(dialog);
    return () => {
      dialog?.close();
      restoreCaret();
    };
  }, []);
  useBackButton(onDismiss);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard's way out is Escape, which arrives as onCancel
    <dialog
      ref={ref}
      role={role === "alertdialog" ? role : undefined}
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      className={className}
      onCancel={(event) => {
        // One that a file chooser inside was left with comes up to here too, and is no word about the dialog.
        if (event.target !== event.currentTarget || !event.cancelable) return;
        event.preventDefault();
        onDismiss();
      }}
      onClose={({ target, currentTarget: dialog }) => {
        // Chromium closes without asking where nobody touched the page since the last time it did: the dialog is
        // shown again, and what is asked for is the same.
        if (target !== dialog || dialog.open || !dialog.isConnected) return;
        openDialog(dialog);
        onDismiss();
      }}
      onPointerDown={(event) => {
        hasPressedBeside.current = event.target === event.currentTarget;
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget && hasPressedBeside.current) onDismiss();
      }}
    >
      {children}
    </dialog>
  );
}
