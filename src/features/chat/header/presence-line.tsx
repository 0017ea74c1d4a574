import { useTranslation } from "react-i18next";
import type { Presence } from "#contract/settings.ts";
import { formatTime } from "#i18n/format.ts";
import { locales } from "#i18n/locales.ts";
import { formatTimeOrDate, isSameDay } from "#i18n/relative-date.ts";
import { getLanguage, type Translate } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/clock.ts";

const dayMs = 86_400_000;

/** When it was, in a sentence and, for the little room of a narrow screen, in two words. */
const describeLastSeen = (t: Translate, at: number, now: number): { whole: string; short: string } => {
  const time = formatTime(at);
  if (isSameDay(at, now))
    return { whole: t("chat.presence.today", { time }), short: t("chat.presence.todayShort", { time }) };
  if (isSameDay(at, now - dayMs))
    return { whole: t("chat.presence.yesterday", { time }), short: t("chat.presence.yesterdayShort") };
  const day = new Intl.DateTimeFormat(locales[getLanguage()], { day: "2-digit", month: "2-digit" }).format(at);
  const whole = t("chat.presence.before", { date: formatTimeOrDate(at) });
  return { whole, short: t("chat.presence.beforeShort", { date: day }) };
};

/** Whether there is anything to say of it. */
export const hasVisiblePresence = (presence: Presence | undefined): presence is Presence =>
  presence !== undefined && (presence.here || presence.seen_at !== null);

/** That somebody is here, or when they last were. */
export function PresenceLine({
  presence: { here, seen_at },
  now = getServerNow(),
}: {
  presence: Presence;
  now?: number;
}) {
  const { t } = useTranslation();
  if (here || seen_at === null) return t("chat.presence.here");
  const { whole, short } = describeLastSeen(t, seen_at, now);
  return (
    <>
      <span className="sr-only sm:not-sr-only">{whole}</span>
      <span aria-hidden="true" className="sm:hidden">
        {short}
      </span>
    </>
  );
}
