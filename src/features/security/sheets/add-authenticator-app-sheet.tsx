import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, ButtonLink } from "#components/controls/button.tsx";
import { CodeForm } from "#components/controls/code-form.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import { QrCode } from "#components/images/qr-code.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import type { Enrolled } from "#contract/auth/factors.ts";
import { factorNameMaxLength, totpDigits } from "#contract/limits/authentication.ts";
import { enrollAuthenticatorApp } from "#features/security/security-api.ts";
import { useSecurityChanges } from "#features/security/security-changes.ts";
import { submitTotp } from "#lib/factors/second-factor.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { listCodeApps, loadSecurityOverview } from "#lib/session/security-overview.ts";
import { CopyButton } from "./copy-button.tsx";

const secretGroupLength = 4;

/** Formats a secret in groups of four characters. */
const formatSecret = (secret: string): string =>
  secret.match(new RegExp(`.{1,${secretGroupLength}}`, "g"))?.join(" ") ?? secret;

/** Returns the name, with a number appended if it is taken. */
const toUniqueName = (base: string, names: readonly string[]): string => {
  for (let n = 2, name = base; ; name = `${base} ${n++}`) if (!names.includes(name)) return name;
};

/** Props of a step; the sheet cannot be closed while a step is busy. */
type SheetStepProps = { isBusy: boolean; setBusy: (isBusy: boolean) => void };

type AppNameFormProps = SheetStepProps & { names: readonly string[]; onEnrolled: (app: Enrolled) => void };

function AppNameForm({ names, isBusy, setBusy, onEnrolled }: AppNameFormProps) {
  const { t } = useTranslation();
  const { withStepUp } = useSecurityChanges();
  const [name, setName] = useState(() => toUniqueName(t("security.apps.defaultName"), names));
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (name.trim() === "") return setProblem(t("security.nameMissing"));
    setBusy(true);
    setProblem(undefined);
    try {
      await withStepUp(async () => onEnrolled(await enrollAuthenticatorApp(name.trim())));
    } catch (error) {
      setProblem(toErrorText(error, t));
    }
    setBusy(false);
  };
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <p>{t("security.apps.addBody")}</p>
      <TextField
        id="appName"
        label={t("security.name")}
        hint={t("security.apps.nameHint")}
        error={problem}
        focusOnError
        maxLength={factorNameMaxLength}
        autoComplete="off"
        enterKeyHint="next"
        dir="auto"
        data-autofocus
        readOnly={isBusy}
        value={name}
        onChange={({ target }) => {
          setName(target.value);
          setProblem(undefined);
        }}
      />
      <Button type="submit" busy={isBusy}>
        {t("auth.secondStep.go")}
      </Button>
    </form>
  );
}

/**
 * Verifies the first code. After an error it checks whether the app is active anyway: if a response was lost, the retry
 * fails because the code was already used.
 */
const verifyFirstCode = async (app: Enrolled, code: string): Promise<void> => {
  try {
    await submitTotp(app.id, code);
  } catch (error) {
    const security = await loadSecurityOverview().catch(() => undefined);
    if (!security || !listCodeApps(security).some(({ id }) => id === app.id)) throw error;
  }
};

type AppSetupStepProps = Pick<SheetStepProps, "setBusy"> & { app: Enrolled; onAdded: () => void };

function AppSetupStep({ app, setBusy, onAdded }: AppSetupStepProps) {
  const { t } = useTranslation();
  const { withStepUp, reload } = useSecurityChanges();
  const { secret, uri, qr_code } = app.totp;
  const confirm = async (code: string) => {
    setBusy(true);
    try {
      if (!(await withStepUp(() => verifyFirstCode(app, code)))) return;
      await reload();
    } finally {
      setBusy(false);
    }
    onAdded();
  };
  return (
    <div className="flex flex-col gap-5">
      <section aria-labelledby="scan" className="flex flex-col gap-3">
        <h3 id="scan" ref={focusOnMount} tabIndex={-1} className="font-semibold focus-visible:outline-none">
          {t("security.apps.scan")}
        </h3>
        <QrCode svg={qr_code} label={t("security.apps.qr")} />
        <ButtonLink variant="secondary" href={uri}>
          {t("security.apps.open")}
        </ButtonLink>
        <p className="text-sm text-muted">{t("security.apps.type")}</p>
        <p
          className="rounded-card bg-raised px-4 py-3 text-center font-mono break-words select-all"
          dir="ltr"
          data-secret
        >
          {formatSecret(secret)}
        </p>
        <CopyButton text={secret} label={t("security.apps.copy")} />
      </section>
      <section aria-labelledby="confirm" className="flex flex-col gap-3">
        <h3 id="confirm" className="font-semibold">
          {t("security.apps.confirm")}
        </h3>
        <CodeForm
          id="firstCode"
          label={t("auth.secondStep.code")}
          hint={t("security.apps.confirmHint")}
          missingMessage={t("auth.secondStep.codeMissing")}
          digits={totpDigits}
          submitLabel={t("security.apps.finish")}
          takesFocus={false}
          submitCode={confirm}
        />
      </section>
    </div>
  );
}

type AddAuthenticatorAppSheetProps = { names: readonly string[]; onAdded: (name: string) => void; onClose: () => void };

/** Adds an authenticator app: its name, the secret to scan or type, and the first code as confirmation. */
export function AddAuthenticatorAppSheet({ names, onAdded, onClose }: AddAuthenticatorAppSheetProps) {
  const { t } = useTranslation();
  const [app, setApp] = useState<Enrolled>();
  const [isBusy, setBusy] = useState(false);
  return (
    <Sheet title={t("security.apps.add")} busy={isBusy} onClose={onClose}>
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-5 pb-8">
        {app ? (
          <AppSetupStep
            app={app}
            setBusy={setBusy}
            onAdded={() => {
              onClose();
              onAdded(app.friendly_name);
            }}
          />
        ) : (
          <AppNameForm names={names} isBusy={isBusy} setBusy={setBusy} onEnrolled={setApp} />
        )}
      </div>
    </Sheet>
  );
}
