import { useT } from "../../i18n/setup";
import { nameOfProvider } from "../../lib/providers";

/** To whom a provider sent here: why this form is to be filled in all the same. */
export function NewcomerNote({ provider }: { provider: string }) {
  const t = useT();
  const name = nameOfProvider(provider);
  return (
    <div role="status" className="mt-6 flex gap-3 rounded-card bg-raised px-4 py-3">
      <span className="i-ph-link mt-0.5 shrink-0 text-xl text-accent" aria-hidden="true" />
      <p>
        <strong className="block">{t("auth.newcomerTitle")}</strong>
        {t("auth.newcomerText", { name })}
      </p>
    </div>
  );
}
