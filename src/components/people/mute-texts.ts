import { formatDate, formatTime } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/clock.ts";

const dayMs = 86_400_000;

/** End of a mute: the time within the next day, else the date. */
const formatMuteEnd = (end: number): string => (end - getServerNow() <= dayMs ? formatTime(end) : formatDate(end));

/** Label of the command that unmutes a conversation, with the end of a timed mute. */
export const toUnmuteLabel = (mutedUntil: number | null | undefined, t: Translate): string =>
  mutedUntil ? t("mute.offUntil", { end: formatMuteEnd(mutedUntil) }) : t("mute.off");

type ShownMute = { mutedUntil: number | null; mutedExceptMentions: boolean };

/** Text of the sign of a muted conversation, with the end of a timed mute, and whether mentions still notify. */
export const toMutedText = ({ mutedUntil, mutedExceptMentions }: ShownMute, t: Translate): string => {
  const text = mutedUntil ? t("mute.isOnUntil", { end: formatMuteEnd(mutedUntil) }) : t("mute.isOn");
  return mutedExceptMentions ? `${text} (${t("mute.exceptMentions")})` : text;
};
