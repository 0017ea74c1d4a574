import { isGroupActionAllowed } from "#contract/groups.ts";
import { type ConversationId, otherMember, privateMembers } from "#contract/ids.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { listDeletedSeqs } from "#sync/store/message-flags.ts";
import { toDisplayedMentions, toDisplayedUnread, toEffectiveFlags } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { isCaughtUp, readSyncCursor } from "#sync/store/sync-cursor.ts";
import type { ConversationView } from "#sync/store/view-models.ts";
import { type QueryClock, singleQueryClock } from "./live-queries.ts";
import { notMuted, readMuteState } from "./mute-state.ts";

/** One conversation without its messages. */

export const readConversation = (
  context: Pick<SyncContext, "store" | "unsent" | "me">,
  id: ConversationId,
  clock: QueryClock = singleQueryClock,
): Promise<ConversationView> => {
  const { store, me } = context;
  return store.transaction("r", [store.conversations, store.messages, store.people, store.meta], async () => {
    const row = await store.conversations.get(id);
    const peer = otherMember(id, me);
    const person = peer ? await store.people.get(peer) : undefined;
    const kind = privateMembers(id) ? "private" : "group";
    const shared = { id, kind, peer, person, blocked: person?.blocked === 1 } as const;
    if (!row || row.epoch === "") {
      // Not received from the server yet: a contact may be written to all the same.
      return {
        ...shared,
        ...notMuted,
        unread: 0,
        mentions: [],
        marked: false,
        head: 0,
        read: 0,
        open: person?.state === "contact",
        isStored: row !== undefined,
        isConfirmed: person !== undefined || isCaughtUp(await readSyncCursor(store)),
        pinnedMessages: [],
        group: row?.group ?? null,
        gone: false,
      };
    }
    const { head, open, group, gone } = row;
    return {
      ...shared,
      ...readMuteState(row, clock),
      unread: toDisplayedUnread(row),
      mentions: toDisplayedMentions(row),
      marked: toEffectiveFlags(row).marked,
      head,
      read: Math.max(row.read, row.wantRead),
      open,
      isStored: true,
      isConfirmed: true,
      pinnedMessages: await readPinnedMessages(context, row),
      group,
      gone,
    };
  });
};

/**
 * Positions of the pinned messages, without those that this person cleared, and those deleted for everyone on this
 * device. Those deleted for themselves alone are left out unless they may unpin them. Requires a transaction.
 */
const readPinnedMessages = async (
  context: Pick<SyncContext, "store" | "unsent">,
  { id, hidden, group, pinnedMessages = [] }: LocalConversationRow,
): Promise<number[]> => {
  const mayUnpin = !group || isGroupActionAllowed(group.role, "pin");
  const seqs = pinnedMessages.filter((seq) => seq > hidden);
  if (seqs.length === 0) return seqs;
  const stored = await context.store.messages.bulkGet(seqs.map((seq): [ConversationId, number] => [id, seq]));
  const deleted = mayUnpin ? new Set<number>() : listDeletedSeqs(context.unsent, id);
  for (const message of stored)
    if (message?.body.type === "deleted" || (!mayUnpin && message?.body.type === "withheld")) deleted.add(message.seq);
  return seqs.filter((seq) => !deleted.has(seq));
};
