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
import { emailMaxLength, mailedCodeDigits } from "#contract/limits.ts";
import { FormDialog } from "#features/security/form-dialog.tsx";
import { requestRecoveryAddressChange, submitRecoveryAddressCode } from "#features/security/security-api.ts";
import { useConfirmedChange, useSecurityAction, useSecurityChanges } from "#features/security/security-changes.ts";
import { ActionRow, CardText, SecurityRow } from "#features/security/security-row.tsx";

const codeFieldId = "emailCode";

function RecoveryAddressDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const { withProof, reload } = useSecurityChanges();
  const isSent = useRef(false);
  // The dialog has given the focus back to what opened it, below the field that waits for the code.
  useEffect(() => () => void (isSent.current && document.getElementById(codeFieldId)?.focus()), []);
  const send = async (data: FormData) => {
    const email = v.safeParse(Email, data.get("recoveryEmail"));
    if (!email.success) return { field: "recoveryEmail", text: t("security.email.invalid") };
    if (!(await withProof(() => requestRecoveryAddressChange(email.output)))) return false;
    await reload();
    isSent.current = true;
    return true;
  };
  return (
    <FormDialog
      title={t("security.email.title")}
      body={t("security.email.body")}
      submitLabel={t("auth.secondStep.go")}
      send={send}
      onClose={onClose}
    >
      {(fieldOf) => (
        <TextField
          {...fieldOf("recoveryEmail")}
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

/** A mail is on its way: its code, or its link, makes the address one's own. */
function PendingRecoveryAddress({ email, pending }: { email: string | null; pending: string }) {
  const { t } = useTranslation();
  const carryOut = useSecurityAction();
  const { reload } = useSecurityChanges();
  const confirm = async (code: string) => {
    const leadFocus = prepareTitleFocus();
    await submitRecoveryAddressCode(pending, code);
    await reload();
    showToast({ message: t("security.email.confirmed") });
    leadFocus();
  };
  const [sent, setSent] = useState(1);
  const [isSending, setSending] = useState(false);
  const again = async () => {
    setSending(true);
    // A code typed from the mail before is worth nothing any more, and neither is what was said of it.
    if (await carryOut(() => requestRecoveryAddressChange(pending), t("security.email.sentAgain"))) setSent(sent + 1);
    setSending(false);
  };
  const [isForgetting, setForgetting] = useState(false);
  const forget = async () => {
    const leadFocus = prepareTitleFocus();
    setForgetting(true);
    if (await carryOut(() => requestRecoveryAddressChange(email ?? ""), t("security.email.forgotten"))) leadFocus();
    setForgetting(false);
  };
  return (
    <>
      <div className="flex flex-col gap-3 p-4">
        <p>{t("security.email.pending", { email: pending })}</p>
        <CodeForm
          key={`${pending} ${sent}`}
          id={codeFieldId}
          label={t("security.email.code")}
          hint={t("security.email.codeHint")}
          missingMessage={t("security.email.codeMissing")}
          wrongMessage={t("recover.mailCodeWrong")}
          digits={mailedCodeDigits}
          submitLabel={t("security.email.confirm")}
          takesFocus={false}
          submitCode={confirm}
        />
      </div>
      <ActionRow
        icon="i-ph-paper-plane-tilt"
        label={t("security.email.again")}
        busy={isSending}
        onPress={() => void again()}
      />
      <ActionRow icon="i-ph-x" label={t("security.email.forget")} busy={isForgetting} onPress={() => void forget()} />
    </>
  );
}

type EmailSectionProps = { email: string | null; pending: string | null };

/** Where a mail goes to whoever forgot the password. */
export function EmailSection({ email, pending }: EmailSectionProps) {
  const { t } = useTranslation();
  const [isSetting, setSetting] = useState(false);
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
            onPress={() => setSetting(true)}
          />
          {email !== null && (
            <ActionRow icon="i-ph-trash" tone="danger" label={t("security.email.remove")} onPress={ask} />
          )}
          {isSetting && <RecoveryAddressDialog onClose={() => setSetting(false)} />}
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
