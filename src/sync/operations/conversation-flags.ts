import type { ConversationId } from "#contract/ids.ts";
import { pinnedConversationsMax } from "#contract/limits/conversations.ts";
import {
  applyFlagChange,
  type ConversationFlags,
  type FlagChange,
  isSameFlags,
  noFlags,
} from "#contract/settings/conversation-flags.ts";
import type { ChangeNumber } from "#contract/wire/commands.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type LocalConversationRow, type LocalStore, listSections } from "#sync/store/database.ts";
import { toEffectiveFlags } from "#sync/store/row-mapping.ts";
import { commitUnsent, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { projectFlags } from "#sync/store/unsent-messages.ts";
import { conversationFlags } from "#sync/unsent/operations.ts";
import { storeFlags } from "./store-flags.ts";

/** Newest change whose data, and all earlier data, this device has. */
const readKnownChange = async (store: LocalStore): Promise<ChangeNumber | undefined> => {
  const { epoch, counter, gaps } = await readSyncCursor(store);
  return epoch === "" ? undefined : { epoch, counter: Math.min(counter, ...gaps.map(({ since }) => since)) };
};

/** Times at which the pinned conversations were pinned. */
const listPins = async (store: LocalStore): Promise<number[]> => {
  const rows = await store.queryListed(listSections.pinned).toArray();
  return rows.map((row) => toEffectiveFlags(row).pinnedAt ?? 0);
};

/** Choices that wait for the server, with a newer one. To pin takes back an archiving, and the contrary. */
const mergeChoices = (before: FlagChange | undefined, change: FlagChange): FlagChange => {
  const { marked, archived, pinned }: FlagChange = { ...before, ...change };
  return {
    ...(marked === undefined ? {} : { marked }),
    ...(archived === undefined || change.pinned ? {} : { archived }),
    ...(pinned === undefined || change.archived ? {} : { pinned }),
  };
};

/** Operation that stores a change of flags; undefined if it changes nothing. Throws a SyncError if it is refused. */
const toOperation = async ({ store, unsent, platform }: SyncContext, row: LocalConversationRow, change: FlagChange) => {
  const pins = await listPins(store);
  const before = toEffectiveFlags(row);
  const at = Math.max(platform.now(), ...pins.map((pinnedAt) => pinnedAt + 1));
  const after = applyFlagChange(before, change, at);
  if (isSameFlags(before, after)) return undefined;
  if (after.pinnedAt !== null && before.pinnedAt === null && pins.length >= pinnedConversationsMax)
    throw new SyncError("too_many_pinned");
  const pending = conversationFlags.find(unsent, { conversation: row.id });
  const known = await readKnownChange(store);
  return conversationFlags.put(
    {
      conversation: row.id,
      chosenAt: change.pinned ? at : (pending?.chosenAt ?? at),
      ...mergeChoices(pending, change),
      ...(known ? { known } : {}),
    },
    at,
  );
};

/**
 * Marks a conversation as unread, archives or pins it, or undoes that: at once on this device, and on the server when
 * it is reachable. Resolves to the flags before. Rejects with a SyncError if too many conversations are pinned.
 */
export const changeConversationFlags = async (
  port: SyncPort,
  conversation: ConversationId,
  change: FlagChange,
): Promise<ConversationFlags> => {
  const context = requireContext(port);
  const { store, unsent } = context;
  const row = await store.conversations.get(conversation);
  if (!row || row.gone) return noFlags;
  projectFlags(unsent, row);
  const before = toEffectiveFlags(row);
  const operation = await toOperation(context, row, change);
  if (!operation) return before;
  await commitUnsent(context, [operation]);
  await storeFlags(context, conversation);
  port.notifyChanged("outbox");
  return before;
};
