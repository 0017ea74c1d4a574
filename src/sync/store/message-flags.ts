import type { ConversationId } from "#contract/ids.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import { messageFlags, type Operation } from "#sync/unsent/operations.ts";
import type { LocalStore, MetaRow } from "./database.ts";
import type { SyncContext } from "./sync-context.ts";

// Stars and deletions for oneself: rows of `meta` with what the server knows, and the unsent choices of this person.

const starsPrefix = "stars:";
const outdatedFlagsPrefix = "outdated-flags:";

/** Key in `meta` of the starred messages of a conversation, as the server knows them. */
export const toStarsKey = (conversation: ConversationId): string => starsPrefix + conversation;

/** Key in `meta` of a conversation whose message flags have changed and have to be fetched. */
export const toOutdatedFlagsKey = (conversation: ConversationId): string => outdatedFlagsPrefix + conversation;

/** Conversations whose message flags have to be fetched. */
export const listOutdatedFlags = async ({ meta }: LocalStore): Promise<ConversationId[]> =>
  (await meta.where("key").startsWith(outdatedFlagsPrefix).primaryKeys()).map((key) =>
    key.slice(outdatedFlagsPrefix.length),
  );

type FlagContext = Pick<SyncContext, "store" | "unsent">;

/** Flags of a message to be sent, or a conversation whose flags are to be fetched. */
export type MessageFlagTask = Operation<"messageFlags"> | { conversation: ConversationId; kind?: never };

export const listMessageFlagTasks = async ({ store, unsent }: FlagContext): Promise<MessageFlagTask[]> => [
  ...messageFlags.list(unsent),
  ...(await listOutdatedFlags(store)).map((conversation) => ({ conversation })),
];

type Star = MessageFlags["starred"][number] & { conversation: ConversationId };

const listUnsentFlags = (unsent: SyncContext["unsent"], conversation: ConversationId | undefined) =>
  messageFlags.list(unsent).filter((flags) => flags.conversation === (conversation ?? flags.conversation));

/** Starred messages in all conversations or in one, with the choices that the server has not confirmed. */
export const listStars = async ({ store, unsent }: FlagContext, conversation?: ConversationId): Promise<Star[]> => {
  const unsentFlags = listUnsentFlags(unsent, conversation);
  const rows: MetaRow[] = await store.meta
    .where("key")
    .startsWith(conversation === undefined ? starsPrefix : toStarsKey(conversation))
    .toArray();
  const stars = new Map<string, Star>();
  for (const { key, value } of rows) {
    const id = key.slice(starsPrefix.length);
    for (const star of value as MessageFlags["starred"]) stars.set(`${id}:${star.seq}`, { ...star, conversation: id });
  }
  for (const { conversation: id, seq, at, starred } of unsentFlags) {
    if (!starred) stars.delete(`${id}:${seq}`);
    else if (!stars.has(`${id}:${seq}`)) stars.set(`${id}:${seq}`, { conversation: id, seq, at });
  }
  return [...stars.values()];
};

/** Positions of the starred messages of a conversation. */
export const readStarredSeqs = async (
  context: FlagContext,
  conversation: ConversationId,
): Promise<ReadonlySet<number>> => new Set((await listStars(context, conversation)).map(({ seq }) => seq));

/** Positions of the messages of a conversation that were deleted for oneself and the server has not confirmed. */
export const listDeletedSeqs = (unsent: SyncContext["unsent"], conversation: ConversationId): Set<number> =>
  new Set(listUnsentFlags(unsent, conversation).flatMap(({ seq, deleted }) => (deleted ? seq : [])));
