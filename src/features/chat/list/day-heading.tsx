import { formatDayHeading } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useServerNow } from "#lib/browser/time/use-server-now.ts";

export function DayHeading({ at }: { at: number }) {
  return (
    <p className="py-3 text-center text-xs font-semibold text-muted">
      {formatDayHeading(at, useLanguage(), useServerNow())}
    </p>
  );
}
