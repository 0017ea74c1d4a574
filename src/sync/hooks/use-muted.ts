import type { GroupCard } from "#contract/groups.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { QueryContext } from "#sync/queries/live-queries.ts";
import { readMuteState } from "#sync/queries/mute-state.ts";
import type { PersonRow } from "#sync/store/database.ts";
import { useLiveQuery } from "./use-live-query.ts";

/** Muted conversation, as a list shows it. */
export type MutedConversation = {
  id: ConversationId;
  peer: Uuid | undefined;
  person: PersonRow | undefined;
  group: GroupCard | null;
  mutedUntil: number | null; // end of a timed mute
  mutedExceptMentions: boolean;
};

const readMutedConversations = ({ store, clock }: QueryContext): Promise<MutedConversation[]> =>
  store.transaction("r", [store.conversations, store.people], async () => {
    const rows = await store.conversations.filter((row) => !row.gone && readMuteState(row, clock).muted).toArray();
    const people = await store.people.bulkGet(rows.map(({ peer }) => peer ?? ""));
    rows.sort((a, b) => b.lastAt - a.lastAt);
    const byId = new Map(people.flatMap((person) => (person ? [[person.id, person]] : [])));
    return rows.map(({ id, peer, group, mutedUntil, mutedExceptMentions = false }) => ({
      id,
      peer,
      group,
      person: byId.get(peer ?? ""),
      mutedUntil: mutedUntil ?? null,
      mutedExceptMentions,
    }));
  });

/** All muted conversations, the last used first. */
export const useMutedConversations = (): MutedConversation[] | undefined =>
  useLiveQuery("muted", readMutedConversations);
