import { isMutedAt } from "#contract/conversations.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import type { Mute } from "#sync/store/view-models.ts";
import type { QueryClock } from "./live-queries.ts";

export const notMuted: Mute = { muted: false, mutedUntil: null, mutedExceptMentions: false };

/** Mute of a row at this time. A live query is run again when a timed mute ends. */
export const readMuteState = (
  row: Pick<LocalConversationRow, "muted" | "mutedUntil" | "mutedExceptMentions">,
  clock: QueryClock,
): Mute => {
  if (!isMutedAt(row, clock.now())) return notMuted;
  const { mutedUntil = null, mutedExceptMentions = false } = row; // absent in rows of earlier versions
  if (mutedUntil !== null) clock.refreshAt(mutedUntil);
  return { muted: true, mutedUntil, mutedExceptMentions };
};
