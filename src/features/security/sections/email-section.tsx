import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { CodeForm } from "#components/controls/code-form.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { prepareTitleFocus } from "#components/focus/title-focus.ts";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { Email } from "#contract/auth/security.ts";
import { emailMaxLength, mailedCodeDigits } from "#contract/limits/authentication.ts";
import { FormDialog } from "#features/security/form-dialog.tsx";
import { requestRecoveryAddressChange, submitRecoveryAddressCode } from "#features/security/security-api.ts";
import { useConfirmedChange, useSecurityAction, useSecurityChanges } from "#features/security/security-changes.ts";
import { ActionRow, CardText, SecurityRow } from "#features/security/security-row.tsx";

const codeFieldId = "emailCode";

function RecoveryAddressDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const { withStepUp, reload } = useSecurityChanges();
  const isSent = useRef(false);
  // The dialog returned the focus to its opener, which is below the code field: move it up to that field.
  useEffect(() => () => void (isSent.current && document.getElementById(codeFieldId)?.focus()), []);
  const submit = async (data: FormData) => {
    const email = v.safeParse(Email, data.get("recoveryEmail"));
    if (!email.success) return { field: "recoveryEmail", text: t("security.email.invalid") };
    if (!(await withStepUp(() => requestRecoveryAddressChange(email.output)))) return false;
    await reload();
    isSent.current = true;
    return true;
  };
  return (
    <FormDialog
      title={t("security.email.title")}
      body={t("security.email.body")}
      submitLabel={t("auth.secondStep.go")}
      submit={submit}
      onClose={onClose}
    >
      {(getFieldProps) => (
        <TextField
          {...getFieldProps("recoveryEmail")}
          label={t("security.email.label")}
          focusOnError
          type="email"
          inputMode="email"
          autoComplete="email"
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          maxLength={emailMaxLength}
          enterKeyHint="go"
          dir="ltr"
          data-autofocus
        />
      )}
    </FormDialog>
  );
}

/** Recovery address awaiting confirmation by the code or the link in a mail. */
function PendingRecoveryAddress({ email, pending }: { email: string | null; pending: string }) {
  const { t } = useTranslation();
  const runAction = useSecurityAction();
  const { reload } = useSecurityChanges();
  const submitCode = async (code: string) => {
    const moveFocus = prepareTitleFocus();
    await submitRecoveryAddressCode(pending, code);
    await reload();
    showToast({ message: t("security.email.confirmed") });
    moveFocus();
  };
  const [mailCount, setMailCount] = useState(1);
  const [isSending, setSending] = useState(false);
  const resend = async () => {
    setSending(true);
    // A new mail invalidates the previous code: the new key resets the typed code and its error.
    if (await runAction(() => requestRecoveryAddressChange(pending), t("security.email.sentAgain")))
      setMailCount(mailCount + 1);
    setSending(false);
  };
  const [isDiscarding, setDiscarding] = useState(false);
  const discard = async () => {
    const moveFocus = prepareTitleFocus();
    setDiscarding(true);
    if (await runAction(() => requestRecoveryAddressChange(email ?? ""), t("security.email.forgotten"))) moveFocus();
    setDiscarding(false);
  };
  return (
    <>
      <div className="flex flex-col gap-3 p-4">
        <p>{t("security.email.pending", { email: pending })}</p>
        <CodeForm
          key={`${pending} ${mailCount}`}
          id={codeFieldId}
          label={t("security.email.code")}
          hint={t("security.email.codeHint")}
          missingMessage={t("security.email.codeMissing")}
          wrongMessage={t("recover.mailCodeWrong")}
          digits={mailedCodeDigits}
          submitLabel={t("security.email.confirm")}
          takesFocus={false}
          submitCode={submitCode}
        />
      </div>
      <ActionRow
        icon="i-ph-paper-plane-tilt"
        label={t("security.email.again")}
        busy={isSending}
        onPress={() => void resend()}
      />
      <ActionRow icon="i-ph-x" label={t("security.email.forget")} busy={isDiscarding} onPress={() => void discard()} />
    </>
  );
}

type EmailSectionProps = { email: string | null; pending: string | null };

/** Recovery e-mail address of the account. */
export function EmailSection({ email, pending }: EmailSectionProps) {
  const { t } = useTranslation();
  const [isEditing, setEditing] = useState(false);
  const { ask, dialog } = useConfirmedChange(() => requestRecoveryAddressChange(""), t("security.email.removed"));
  return (
    <SettingsCard title={t("security.email.title")} icon="i-ph-envelope-simple">
      {() => (
        <>
          {email === null ? (
            <CardText>{t("security.email.about")}</CardText>
          ) : (
            <SecurityRow icon="i-ph-check-circle-fill" title={<bdi>{email}</bdi>} details={[t("security.email.set")]} />
          )}
          {pending !== null && <PendingRecoveryAddress email={email} pending={pending} />}
          <ActionRow
            icon={email === null && pending === null ? "i-ph-plus-circle" : "i-ph-pencil-simple"}
            label={t(email === null && pending === null ? "security.email.add" : "security.email.change")}
            onPress={() => setEditing(true)}
          />
          {email !== null && (
            <ActionRow icon="i-ph-trash" tone="danger" label={t("security.email.remove")} onPress={ask} />
          )}
          {isEditing && <RecoveryAddressDialog onClose={() => setEditing(false)} />}
          <ConfirmDialog
            {...dialog}
            title={t("security.email.removeTitle")}
            body={t("security.email.removeBody")}
            confirmLabel={t("security.remove")}
            cancelLabel={t("common.cancel")}
          />
        </>
      )}
    </SettingsCard>
  );
}
