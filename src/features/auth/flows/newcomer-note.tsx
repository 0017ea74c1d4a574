import { useTranslation } from "react-i18next";
import { EntryNote } from "#features/auth/form/entry-note.tsx";
import { nameOfProvider } from "#lib/factors/providers.ts";

/** To whom a provider sent here: why this form is to be filled in all the same. */
export function NewcomerNote({ provider }: { provider: string }) {
  const { t } = useTranslation();
  const name = nameOfProvider(provider);
  return (
    <EntryNote role="status" icon="i-ph-link">
      <p>
        <strong className="block">{t("auth.newcomerTitle")}</strong>
        {t("auth.newcomerText", { name })}
      </p>
    </EntryNote>
  );
}
