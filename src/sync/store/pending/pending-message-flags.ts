import type { ConversationId } from "#contract/ids.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { LocalStore, MetaRow } from "#sync/store/database.ts";

const pendingMessageFlagsPrefix = "message-flags:";

/**
 * Flags of a message that the person chose at the time `at` and the server has not confirmed; a later choice replaces
 * it. `epoch`: log of the message. Without `seq`, the flags of the conversation have changed and have to be fetched.
 */
export type PendingMessageFlags = { conversation: ConversationId } & (
  | { seq?: never }
  | { seq: number; epoch: string; at: number; starred?: boolean; deleted?: true }
);

export const toPendingMessageFlagsKey = (conversation: ConversationId, seq: number | "" = ""): string =>
  `${pendingMessageFlagsPrefix}${conversation}:${seq}`;

/** Whether a `meta` key belongs to pending flags of a message. */
export const isPendingMessageFlagsKey = (key: string): boolean =>
  key.startsWith(pendingMessageFlagsPrefix) && !key.endsWith(":");

/** Pending flags in all conversations, or in one. */
export const listPendingMessageFlags = async ({ meta }: LocalStore, conversation?: ConversationId) => {
  const prefix = conversation === undefined ? pendingMessageFlagsPrefix : toPendingMessageFlagsKey(conversation);
  const rows: MetaRow[] = await meta.where("key").startsWith(prefix).toArray();
  return rows.map(({ value }) => value as PendingMessageFlags);
};

const starsPrefix = "stars:";

/** Key in `meta` of the starred messages of a conversation, as the server knows them. */
export const toStarsKey = (conversation: ConversationId): string => starsPrefix + conversation;

type Star = MessageFlags["starred"][number] & { conversation: ConversationId };

/** Starred messages in all conversations or in one, with the choices that the server has not confirmed. */
export const listStars = async (store: LocalStore, conversation?: ConversationId): Promise<Star[]> => {
  const [rows, pendingFlags] = await Promise.all([
    store.meta
      .where("key")
      .startsWith(conversation === undefined ? starsPrefix : toStarsKey(conversation))
      .toArray(),
    listPendingMessageFlags(store, conversation),
  ]);
  const stars = new Map<string, Star>();
  for (const { key, value } of rows) {
    const id = key.slice(starsPrefix.length);
    for (const star of value as MessageFlags["starred"]) stars.set(`${id}:${star.seq}`, { ...star, conversation: id });
  }
  for (const { conversation: id, ...pending } of pendingFlags) {
    if (pending.seq === undefined) continue;
    const { seq, at } = pending;
    if (!pending.starred) stars.delete(`${id}:${seq}`);
    else if (!stars.has(`${id}:${seq}`)) stars.set(`${id}:${seq}`, { conversation: id, seq, at });
  }
  return [...stars.values()];
};

/** Positions of the starred messages of a conversation. */
export const readStarredSeqs = async (store: LocalStore, conversation: ConversationId): Promise<ReadonlySet<number>> =>
  new Set((await listStars(store, conversation)).map(({ seq }) => seq));

/** Positions of the messages of a conversation that were deleted for oneself and the server has not confirmed. */
export const readDeletedSeqs = async (store: LocalStore, conversation: ConversationId): Promise<Set<number>> => {
  const pending = await listPendingMessageFlags(store, conversation);
  return new Set(pending.flatMap((flags) => (flags.seq !== undefined && flags.deleted ? flags.seq : [])));
};
