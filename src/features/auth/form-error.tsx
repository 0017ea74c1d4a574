import { useT } from "../../i18n/setup";

/** What went wrong with the whole form and not with one field; without the script, that it is needed. */
export function FormError({ error }: { error: string | undefined }) {
  const t = useT();
  return (
    <>
      {error && (
        <p id="form" tabIndex={-1} className="rounded-card bg-danger-soft px-4 py-3 text-danger">
          {error}
        </p>
      )}
      <noscript>
        <p className="rounded-card bg-danger-soft px-4 py-3 text-danger">{t("auth.scriptNeeded")}</p>
      </noscript>
    </>
  );
}
