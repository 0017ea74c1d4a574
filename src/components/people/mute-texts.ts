import { dayMs } from "#contract/limits/durations.ts";
import { formatShortDay, formatTime } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";

/** End of a mute in words: the time within the next day, else also the date. */
const toUntilText = (end: number, t: Translate): string => {
  const time = formatTime(end);
  return end - getServerNow() <= dayMs
    ? t("mute.untilTime", { time })
    : t("mute.untilDay", { day: formatShortDay(end), time });
};

/** Label of the command that unmutes a conversation, with the end of a timed mute. */
export const toUnmuteLabel = (mutedUntil: number | null | undefined, t: Translate): string =>
  mutedUntil ? t("mute.offUntil", { until: toUntilText(mutedUntil, t) }) : t("mute.off");

type ShownMute = { mutedUntil: number | null; mutedExceptMentions: boolean };

/** Text of the sign of a muted conversation, with the end of a timed mute, and whether mentions still notify. */
export const toMutedText = ({ mutedUntil, mutedExceptMentions }: ShownMute, t: Translate): string => {
  const text = mutedUntil ? t("mute.isOnUntil", { until: toUntilText(mutedUntil, t) }) : t("mute.isOn");
  return mutedExceptMentions ? `${text} (${t("mute.exceptMentions")})` : text;
};
