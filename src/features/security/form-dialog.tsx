import { type ReactNode, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { FormError } from "#components/auth/form-error.tsx";
import { Button } from "#components/controls/button.tsx";
import { dialogCardClasses, Modal } from "#components/overlays/modal.tsx";
import { toErrorText } from "#lib/http/error-text.ts";

export type FieldProblem = { field: string; text: string };

type FieldState = { id: string; error: string | undefined; readOnly: boolean };

type FormDialogProps = {
  title: string;
  body?: string;
  submitLabel: string;
  /**
   * Submits the form. Returns a field problem to show, true to close the dialog, or false to stay. A rejection is shown
   * in the dialog.
   */
  submit: (data: FormData) => Promise<FieldProblem | boolean>;
  onClose: () => void;
  children: (getFieldProps: (id: string) => FieldState) => ReactNode;
};

/** Modal form. Input is kept after a failure; fields are read-only and the dialog stays open during the request. */
export function FormDialog({ title, body, submitLabel, submit, onClose, children }: FormDialogProps) {
  const { t } = useTranslation();
  const id = useId();
  const [problem, setProblem] = useState<FieldProblem>();
  const [isBusy, setBusy] = useState(false);

  const handleSubmit = async (element: HTMLFormElement) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const outcome = await submit(new FormData(element));
      if (outcome === true) return onClose();
      if (outcome !== false) setProblem(outcome);
    } catch (error) {
      setProblem({ field: "form", text: toErrorText(error, t) });
    }
    setBusy(false);
  };
  return (
    <Modal
      labelledBy={`${id}-title`}
      {...(body === undefined ? {} : { describedBy: `${id}-body` })}
      className={`max-h-[calc(100dvh-2rem)] overflow-y-auto ${dialogCardClasses}`}
      onDismiss={() => !isBusy && onClose()}
    >
      <form
        noValidate
        className="flex flex-col gap-4 p-6"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void handleSubmit(event.currentTarget);
        }}
      >
        <h2 id={`${id}-title`} className="text-xl font-bold break-words text-balance">
          {title}
        </h2>
        {body !== undefined && (
          <p id={`${id}-body`} className="text-muted">
            {body}
          </p>
        )}
        {children((id) => ({ id, error: problem?.field === id ? problem.text : undefined, readOnly: isBusy }))}
        <FormError>{problem?.field === "form" && problem.text}</FormError>
        <div className="flex flex-wrap justify-end gap-3">
          <Button variant="secondary" disabled={isBusy} className="grow" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" busy={isBusy} className="grow">
            {submitLabel}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
