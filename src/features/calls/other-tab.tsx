import { useT } from "../../i18n/setup";

/** Why nobody can be called from here, and where the call is. */
export default function OtherTab() {
  const t = useT();
  return (
    <p
      role="status"
      className="flex min-h-8 shrink-0 items-center justify-center gap-2 border-b border-line bg-accent-soft px-4 py-1 text-center text-sm text-text"
    >
      <span className="i-ph-phone-fill shrink-0 text-base text-accent" aria-hidden="true" />
      {t("calls.otherTab")}
    </p>
  );
}
