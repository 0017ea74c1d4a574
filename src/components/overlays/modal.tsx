import { type ReactNode, useLayoutEffect, useRef } from "react";
import { useBackButton } from "./back-button-layers.ts";
import { pageCover, useLayer } from "./cover.ts";
import { Toaster } from "./toast.tsx";

type ModalProps = {
  /** Accessible name of the dialog; use `labelledBy` if there is a visible heading. */
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  role?: "dialog" | "alertdialog";
  className?: string;
  /** Called by Escape, back navigation, the back gesture and a tap outside the dialog. */
  onDismiss: () => void;
  children: ReactNode;
};

/** Centred card, as small as its content. */
export const dialogCardClasses =
  "rise m-auto w-[min(26rem,calc(100vw-2rem))] rounded-bubble border border-line bg-surface p-0 text-text shadow-xl";

const openDialog = (dialog: HTMLDialogElement): void => {
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-autofocus]")?.focus();
};

/**
 * Chromium returns the focus to a text field without the caret after a press in a dialog: typed letters would be lost.
 */
const restoreCaret = (): void => {
  const { activeElement: field } = document;
  const isField = field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement;
  if (isField && field.selectionStart !== null) field.setSelectionRange(field.selectionStart, field.selectionEnd);
};

/**
 * Modal layer on the native `<dialog>`: top layer, inert page, focus kept inside and restored. It is open while
 * mounted. The first element with `data-autofocus` gets the focus.
 */
export function Modal({ label, labelledBy, describedBy, role, className = "", onDismiss, children }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  // A tap outside must start outside: the finger whose long press opened the dialog is still down.
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
  useLayer(pageCover);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it with Escape, which arrives as onCancel
    <dialog
      ref={ref}
      role={role === "alertdialog" ? role : undefined}
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      className={className}
      onCancel={(event) => {
        // The cancel event of a file chooser inside bubbles up to here and does not concern the dialog.
        if (event.target !== event.currentTarget || !event.cancelable) return;
        event.preventDefault();
        onDismiss();
      }}
      onClose={({ target, currentTarget: dialog }) => {
        // Chromium closes without a cancel event if the page was not touched since the last one: the dialog is
        // reopened, and the dismissal is handled the same way.
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
      {/* The page below is inert and covered. */}
      <Toaster place="dialog" />
    </dialog>
  );
}
