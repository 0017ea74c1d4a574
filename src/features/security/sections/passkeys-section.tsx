import { useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { TextField } from "#components/controls/text-field.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { MenuButton } from "#components/overlays/menu.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { FactorName, type Passkey } from "#contract/auth/factors.ts";
import { factorNameMaxLength, passkeysMax } from "#contract/limits/authentication.ts";
import { FormDialog } from "#features/security/form-dialog.tsx";
import { useConfirmedChange, useSecurityChanges } from "#features/security/security-changes.ts";
import { ActionRow, CardText, SecurityRow } from "#features/security/security-row.tsx";
import { useFormat } from "#i18n/use-format.ts";
import { toPasskeyErrorText } from "#lib/factors/passkey-error.ts";
import { addPasskey, canUsePasskeys, changePasskeyName, removePasskey } from "#lib/factors/passkeys.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

function RenamePasskeyDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const { t } = useTranslation();
  const { withStepUp, reload } = useSecurityChanges();
  const submit = async (data: FormData) => {
    const name = v.safeParse(FactorName, data.get("passkeyName"));
    if (!name.success) return { field: "passkeyName", text: t("security.nameMissing") };
    const rename = async () => {
      await changePasskeyName(passkey.id, name.output);
    };
    if (!(await withStepUp(rename))) return false;
    await reload();
    showToast({ message: t("security.keys.renamed") });
    return true;
  };
  return (
    <FormDialog title={t("security.keys.rename")} submitLabel={t("security.save")} submit={submit} onClose={onClose}>
      {(getFieldProps) => (
        <TextField
          {...getFieldProps("passkeyName")}
          label={t("security.name")}
          focusOnError
          maxLength={factorNameMaxLength}
          autoComplete="off"
          enterKeyHint="done"
          dir="auto"
          data-autofocus
          defaultValue={passkey.name}
        />
      )}
    </FormDialog>
  );
}

function PasskeyListItem({ passkey }: { passkey: Passkey }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [isRenaming, setRenaming] = useState(false);
  const { name, created_at, used_at } = passkey;
  const removedMessage = t("security.keys.removed", { name: isolateBidi(name) });
  const { ask, dialog } = useConfirmedChange(() => removePasskey(passkey.id), removedMessage);
  return (
    <li>
      <SecurityRow
        icon="i-ph-fingerprint"
        title={<bdi>{name}</bdi>}
        details={[
          t("security.added", { date: format.date(created_at) }),
          used_at !== null && t("security.used", { date: format.date(used_at) }),
          passkey.synced && t("security.keys.synced"),
        ]}
        end={
          <MenuButton
            label={t("security.keys.optionsName", { name })}
            items={[
              {
                id: "rename",
                icon: "i-ph-pencil-simple",
                label: t("security.keys.rename"),
                onSelect: () => setRenaming(true),
              },
              {
                id: "remove",
                icon: "i-ph-trash",
                label: t("security.remove"),
                tone: "danger",
                onSelect: ask,
              },
            ]}
          />
        }
      />
      {isRenaming && <RenamePasskeyDialog passkey={passkey} onClose={() => setRenaming(false)} />}
      <ConfirmDialog
        {...dialog}
        title={t("security.keys.removeTitle", { name: isolateBidi(name) })}
        body={t("security.keys.removeBody")}
        confirmLabel={t("security.remove")}
        cancelLabel={t("common.cancel")}
      />
    </li>
  );
}

/** Passkeys: sign-in with fingerprint, face or screen lock. */
export function PasskeysSection({ passkeys }: { passkeys: readonly Passkey[] }) {
  const { t } = useTranslation();
  const { withStepUp, reload } = useSecurityChanges();
  const [isBusy, setBusy] = useState(false);
  const canAdd = canUsePasskeys();

  const add = async () => {
    setBusy(true);
    let added: Passkey | undefined;
    try {
      await withStepUp(async () => {
        added = await addPasskey();
      });
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: toPasskeyErrorText(error, t) });
    }
    if (added) {
      await reload();
      showToast({ message: t("security.keys.added", { name: isolateBidi(added.name) }) });
    }
    setBusy(false);
  };
  return (
    <SettingsCard title={t("security.keys.title")} icon="i-ph-fingerprint">
      {(heading) => (
        <>
          <CardText>{t(canAdd ? "security.keys.about" : "security.keys.unsupported")}</CardText>
          {passkeys.length > 0 && (
            <ul aria-labelledby={heading} className="divide-y divide-line">
              {passkeys.map((passkey) => (
                <PasskeyListItem key={passkey.id} passkey={passkey} />
              ))}
            </ul>
          )}
          {canAdd && passkeys.length < passkeysMax && (
            <ActionRow
              icon="i-ph-plus-circle"
              label={t("security.keys.add")}
              busy={isBusy}
              onPress={() => void add()}
            />
          )}
        </>
      )}
    </SettingsCard>
  );
}
