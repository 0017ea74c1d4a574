import type { ConversationId } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { isTombstone } from "#contract/messages/kinds.ts";
import { listDeletedSeqs } from "#sync/store/message-flags.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

export type MessagePlace = { conversation: ConversationId; seq?: number };

/** Key of a place in what `readCurrentBodies` returns. */
export const toPlaceKey = ({ conversation, seq = 0 }: MessagePlace): string => `${conversation} ${seq}`;

/**
 * `bodies`: of messages as this device has them, null for those that were deleted or cleared, by place. Messages that
 * only the server has are absent. `revisions`: newest known revision of each conversation.
 */
export type CurrentMessages = { bodies: Record<string, StoredBody | null>; revisions: Record<ConversationId, number> };

export const readCurrentMessages = (
  { store, unsent }: Pick<SyncContext, "store" | "unsent">,
  places: readonly MessagePlace[],
): Promise<CurrentMessages> =>
  store.transaction("r", [store.conversations, store.messages, store.meta], async () => {
    const bodies: CurrentMessages["bodies"] = {};
    const revisions: CurrentMessages["revisions"] = {};
    const stored = await store.messages.bulkGet(
      places.map(({ conversation, seq = 0 }): [ConversationId, number] => [conversation, seq]),
    );
    for (const row of stored) if (row) bodies[toPlaceKey(row)] = isTombstone(row.body) ? null : row.body;
    for (const conversation of new Set(places.map((place) => place.conversation))) {
      const { hidden = 0, revision = 0 } = (await store.conversations.get(conversation)) ?? {};
      revisions[conversation] = revision;
      const deleted = listDeletedSeqs(unsent, conversation);
      for (const place of places) {
        const { seq = 0 } = place;
        if (place.conversation === conversation && (seq <= hidden || deleted.has(seq)))
          bodies[toPlaceKey(place)] = null;
      }
    }
    return { bodies, revisions };
  });
