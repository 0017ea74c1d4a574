import { isMutedAt } from "#contract/conversations.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import type { QueryClock } from "./live-queries.ts";

/** Whether a conversation is muted now, and the end of a timed mute. */
type MuteState = { muted: boolean; mutedUntil: number | null };

/** Mute of a row at this time. A live query is run again when a timed mute ends. */
export const readMuteState = (
  row: Pick<LocalConversationRow, "muted" | "mutedUntil">,
  clock: QueryClock,
): MuteState => {
  if (!isMutedAt(row, clock.now())) return { muted: false, mutedUntil: null };
  const mutedUntil = row.mutedUntil ?? null; // rows of earlier versions have no end
  if (mutedUntil !== null) clock.refreshAt(mutedUntil);
  return { muted: true, mutedUntil };
};
