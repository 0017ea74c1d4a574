import { formatDayHeading } from "../../i18n/relative-date";
import { useLanguage } from "../../i18n/setup";
import { useServerNow } from "../../lib/clock";

export function DayHeading({ at }: { at: number }) {
  return (
    <p className="py-3 text-center text-xs font-semibold text-muted">
      {formatDayHeading(at, useLanguage(), useServerNow())}
    </p>
  );
}
