import type { Presence } from "../../../contract/settings";
import { formatTime } from "../../i18n/format";
import { formatTimeOrDate, isSameDay } from "../../i18n/relative-date";
import { type Translate, useT } from "../../i18n/setup";

const dayMs = 86_400_000;

/** When it was, in words and, for the little room of a narrow screen, without. */
const describe = (t: Translate, at: number, now: number) => {
  const time = formatTime(at);
  if (isSameDay(at, now)) return { whole: t("chat.presence.today", { time }), short: time };
  const date = formatTimeOrDate(at);
  const isYesterday = isSameDay(at, now - dayMs);
  const whole = isYesterday ? t("chat.presence.yesterday", { time }) : t("chat.presence.before", { date });
  return { whole, short: date };
};

/** Whether there is anything to say of it. */
export const isTelling = (presence: Presence | undefined): presence is Presence =>
  presence !== undefined && (presence.here || presence.seen_at !== null);

/** That somebody is here, or when they last were. */
export function PresenceLine({ presence: { here, seen_at } }: { presence: Presence }) {
  const t = useT();
  if (here || seen_at === null) return t("chat.presence.here");
  const { whole, short } = describe(t, seen_at, Date.now());
  return (
    <>
      <span className="sr-only sm:not-sr-only">{whole}</span>
      <span aria-hidden="true" className="inline-flex items-center gap-1 sm:hidden">
        <span className="i-ph-clock shrink-0" />
        {short}
      </span>
    </>
  );
}
