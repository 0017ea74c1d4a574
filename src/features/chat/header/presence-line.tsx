import { useTranslation } from "react-i18next";
import { dayMs } from "#contract/limits/durations.ts";
import type { Presence } from "#contract/settings/settings.ts";
import { getLanguage } from "#i18n/current-language.ts";
import { formatTime } from "#i18n/format.ts";
import { locales } from "#i18n/locales.ts";
import { formatTimeOrDate, isSameDay } from "#i18n/relative-date.ts";
import type { Translate } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";

/** Last-seen text as a sentence, and in a short form for narrow screens. */
const describeLastSeen = (t: Translate, at: number, now: number): { full: string; short: string } => {
  const time = formatTime(at);
  if (isSameDay(at, now))
    return { full: t("chat.presence.today", { time }), short: t("chat.presence.todayShort", { time }) };
  if (isSameDay(at, now - dayMs))
    return { full: t("chat.presence.yesterday", { time }), short: t("chat.presence.yesterdayShort") };
  const day = new Intl.DateTimeFormat(locales[getLanguage()], { day: "2-digit", month: "2-digit" }).format(at);
  const full = t("chat.presence.before", { date: formatTimeOrDate(at) });
  return { full, short: t("chat.presence.beforeShort", { date: day }) };
};

/** Whether the presence may be shown: the person is online or has a last-seen time. */
export const hasVisiblePresence = (presence: Presence | undefined): presence is Presence =>
  presence !== undefined && (presence.here || presence.seen_at !== null);

/** "Online", or the last-seen time. */
export function PresenceLine({
  presence: { here, seen_at },
  now = getServerNow(),
}: {
  presence: Presence;
  now?: number;
}) {
  const { t } = useTranslation();
  if (here || seen_at === null) return t("chat.presence.here");
  const { full, short } = describeLastSeen(t, seen_at, now);
  return (
    <>
      <span className="sr-only sm:not-sr-only">{full}</span>
      <span aria-hidden="true" className="sm:hidden">
        {short}
      </span>
    </>
  );
}
