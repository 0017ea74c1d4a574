import { useState } from "react";
import { useTranslation } from "react-i18next";
import * as v from "valibot";
import { TextField } from "#components/controls/text-field.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { MenuButton } from "#components/overlays/menu.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { FactorName, type Passkey } from "#contract/auth/factors.ts";
import { factorNameMaxLength, passkeysMax } from "#contract/limits.ts";
import { useAskedChange, useChanges } from "#features/security/changes.ts";
import { FormDialog } from "#features/security/form-dialog.tsx";
import { ActionRow, CardText, Row } from "#features/security/row.tsx";
import { useFormat } from "#i18n/format.ts";
import { passkeyFailureText } from "#lib/factors/passkey-error.ts";
import { addPasskey, canUsePasskeys, removePasskey, renamePasskey } from "#lib/factors/passkeys.ts";
import { isolate } from "#lib/text/bidi.ts";

function RenameDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const { t } = useTranslation();
  const { withProof, reload } = useChanges();
  const send = async (data: FormData) => {
    const name = v.safeParse(FactorName, data.get("passkeyName"));
    if (!name.success) return { field: "passkeyName", text: t("security.nameMissing") };
    const work = async () => {
      await renamePasskey(passkey.id, name.output);
    };
    if (!(await withProof(work))) return false;
    await reload();
    showToast({ message: t("security.keys.renamed") });
    return true;
  };
  return (
    <FormDialog title={t("security.keys.rename")} submitLabel={t("security.save")} send={send} onClose={onClose}>
      {(fieldOf) => (
        <TextField
          {...fieldOf("passkeyName")}
          label={t("security.name")}
          leads
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

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const { t } = useTranslation();
  const format = useFormat();
  const [isRenaming, setRenaming] = useState(false);
  const { name, created_at, used_at } = passkey;
  const removed = t("security.keys.removed", { name: isolate(name) });
  const { ask, dialog } = useAskedChange(() => removePasskey(passkey.id), removed);
  return (
    <li>
      <Row
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
      {isRenaming && <RenameDialog passkey={passkey} onClose={() => setRenaming(false)} />}
      <ConfirmDialog
        {...dialog}
        title={t("security.keys.removeTitle", { name: isolate(name) })}
        body={t("security.keys.removeBody")}
        confirmLabel={t("security.remove")}
        cancelLabel={t("common.cancel")}
      />
    </li>
  );
}

/** Signing in by a fingerprint, a face or the screen's lock. */
export function PasskeysSection({ passkeys }: { passkeys: readonly Passkey[] }) {
  const { t } = useTranslation();
  const { withProof, reload } = useChanges();
  const [isBusy, setBusy] = useState(false);
  const canAdd = canUsePasskeys();

  const add = async () => {
    setBusy(true);
    let added: Passkey | undefined;
    try {
      await withProof(async () => {
        added = await addPasskey();
      });
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: passkeyFailureText(error, t) });
    }
    if (added) {
      await reload();
      showToast({ message: t("security.keys.added", { name: isolate(added.name) }) });
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
                <PasskeyRow key={passkey.id} passkey={passkey} />
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
