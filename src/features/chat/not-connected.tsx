import { Link } from "react-router";
import { useT } from "../../i18n/setup";

/** Stands in the composer's place when these two may not write to each other (SPEC.md §8). */
export function NotConnected() {
  const t = useT();
  return (
    <div className="flex shrink-0 flex-wrap items-center justify-center gap-x-4 gap-y-1 border-t border-line bg-surface px-4 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))] text-center">
      <p role="status" className="text-muted">
        {t("chat.mustBeConnected")}
      </p>
      <Link
        to="/app/senga"
        className="inline-flex min-h-12 items-center gap-2 rounded-card px-3 font-semibold text-accent hover:bg-raised"
      >
        <span className="i-ph-user-plus text-xl" aria-hidden="true" />
        {t("chat.findPeople")}
      </Link>
    </div>
  );
}
