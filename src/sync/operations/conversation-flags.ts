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
import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";
import { listSections } from "#sync/store/database.ts";
import { type PendingFlags, toPendingFlagsKey } from "#sync/store/pending/pending-flags.ts";
import { toEffectiveFlags } from "#sync/store/row-mapping.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { updateListPositions } from "#sync/store/unsent-messages.ts";

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
const mergeWanted = (
  before: LocalConversationRow["wanted"],
  change: FlagChange,
  at: number,
): NonNullable<LocalConversationRow["wanted"]> => {
  const wanted = { ...before, ...change, at: change.pinned ? at : (before?.at ?? at) };
  if (change.archived) delete wanted.pinned;
  if (change.pinned) delete wanted.archived;
  return wanted;
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
  const { strict, platform } = requireContext(port);
  const tables = [strict.conversations, strict.meta, strict.recordings];
  const flagsBefore = await strict.transaction("rw", tables, async () => {
    const row = await strict.conversations.get(conversation);
    if (!row || row.gone) return noFlags;
    const pins = await listPins(strict);
    const before = toEffectiveFlags(row);
    const at = Math.max(platform.now(), ...pins.map((pinnedAt) => pinnedAt + 1));
    const after = applyFlagChange(before, change, at);
    if (isSameFlags(before, after)) return before;
    if (after.pinnedAt !== null && before.pinnedAt === null && pins.length >= pinnedConversationsMax)
      throw new SyncError("too_many_pinned");
    row.wanted = mergeWanted(row.wanted, change, at);
    const known = await readKnownChange(strict);
    const pending: PendingFlags = { conversation, ...row.wanted, ...(known ? { known } : {}) };
    await strict.meta.put({ key: toPendingFlagsKey(conversation), value: pending });
    await updateListPositions(strict, [row]);
    await strict.conversations.put(row);
    return before;
  });
  port.notifyChanged("outbox");
  return flagsBefore;
};
