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
  /** Answers what is wrong, or whether it is done: the dialog goes then. What it rejects with is said in the dialog. */
  send: (data: FormData) => Promise<FieldProblem | boolean>;
  onClose: () => void;
  children: (fieldOf: (id: string) => FieldState) => ReactNode;
};

/** A small form over the page; what is typed stays when it fails. While its answer is under way it stays as it is. */
export function FormDialog({ title, body, submitLabel, send, onClose, children }: FormDialogProps) {
  const { t } = useTranslation();
  const id = useId();
  const [problem, setProblem] = useState<FieldProblem>();
  const [isBusy, setBusy] = useState(false);

  const submit = async (element: HTMLFormElement) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const outcome = await send(new FormData(element));
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
          if (!isBusy) void submit(event.currentTarget);
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
