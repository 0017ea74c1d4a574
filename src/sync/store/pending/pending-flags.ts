import type { ConversationId } from "#contract/ids.ts";
import type { FlagChange } from "#contract/settings/conversation-flags.ts";
import type { ChangeNumber } from "#contract/wire/commands.ts";
import type { LocalStore } from "#sync/store/database.ts";

const pendingFlagsPrefix = "flags:";

/**
 * Flags of a conversation that the person chose and the server has not confirmed. `known`: newest change of the inbox
 * that this device had then. `at`: time of the first unsent choice, or of the last one to pin: the order of sending.
 */
export type PendingFlags = FlagChange & { conversation: ConversationId; at: number; known?: ChangeNumber };

export const toPendingFlagsKey = (conversation: ConversationId): string => pendingFlagsPrefix + conversation;

/** Whether a `meta` key belongs to pending flags. */
export const isPendingFlagsKey = (key: string): boolean => key.startsWith(pendingFlagsPrefix);

export const listPendingFlags = async ({ meta }: LocalStore): Promise<PendingFlags[]> =>
  (await meta.where("key").startsWith(pendingFlagsPrefix).toArray())
    .map(({ value }) => value as PendingFlags)
    .sort((a, b) => a.at - b.at);
