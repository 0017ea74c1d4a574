import { hasEnded } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import { toOwnReceiptsFrame } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ChangeSequence } from "./change-sequence.ts";
import { toInboxRow } from "./changes-query.ts";
import type { ConversationChoices } from "./choices/conversation-choices.ts";
import { endFlags, hasArrival, recordFlagEnds } from "./choices/conversation-flags.ts";
import type { DraftTable } from "./draft-table.ts";
import { compareReadState, type InboxEntry, seenUpTo } from "./inbox-merge.ts";
import type { InboxTable } from "./inbox-table.ts";
import {
  acknowledgeAgain,
  type EntryUpdate,
  hasNewUnread,
  listDeleted,
  listPushes,
  toRowPush,
  toUniformPush,
} from "./push-builders.ts";
import type { WriteBehind } from "./write-behind.ts";

export type RowListeners = {
  /**
   * Unread messages arrived. `canHoldWrite`: the row is in memory only, and no device has it. Returns true if it is to
   * be written together with the mark of a push.
   */
  onNewMessages(entry: InboxEntry, author: Uuid | undefined, canHoldWrite: boolean): boolean;
  /** The messages with these seqs were deleted. */
  onDeletions(entry: InboxEntry, deleted: readonly number[]): void;
  /** A conversation was read or cleared further. `seenBefore`: seq up to which it was read or cleared before. */
  onRead(entry: InboxEntry, seenBefore: number): void;
};

type RowPublisherPorts = {
  inbox: InboxTable;
  drafts: DraftTable;
  choices: ConversationChoices;
  sequence: ChangeSequence;
  writeBehind: WriteBehind;
  sockets: SocketRegistry;
  listeners: RowListeners;
};

/** Pushes changed rows of the inbox to the sockets and writes them, at once or deferred. */
export class RowPublisher {
  readonly #ports: RowPublisherPorts;

  constructor(ports: RowPublisherPorts) {
    this.#ports = ports;
  }

  /**
   * Publishes the changes of notices to a row. A new row is written first, so that its handle is never given to
   * another. Any other may wait for a push, and then this returns true.
   */
  publishUpdate(merged: EntryUpdate): boolean {
    const { inbox, drafts, choices, sequence, writeBehind, sockets, listeners } = this.#ports;
    const stored = inbox.find(merged.entry.conversation);
    const hasArrived = hasArrival(merged, stored, Date.now());
    const update = choices.messageFlags.applyToUpdate(endFlags(merged, stored, hasArrived), stored);
    const { entry, newMessages, ownMessages, needsFullRow } = update;
    const changes = listPushes(update);
    const changed = changes.length > 0 ? sequence.value + changes.length : (stored?.changed ?? 0);
    const row = recordFlagEnds({ ...entry, changed }, stored, hasArrived);
    // Devices delete a conversation that is gone, so earlier messages are acknowledged first.
    const alreadyStored = ownMessages.filter(({ outgoing }) => !newMessages.some(({ cid }) => cid === outgoing.cid));
    if (entry.gone) acknowledgeAgain(sockets, sequence.value, alreadyStored);
    if (needsFullRow) inbox.writeFlags(row);
    if (hasEnded(entry)) drafts.delete(entry.handle);
    sequence.pushChanges(changes);
    const isDeferred = !needsFullRow && (changes.length > 0 || entry.countedUpTo !== stored?.countedUpTo);
    if (isDeferred) inbox.stage(row);
    if (!entry.gone) acknowledgeAgain(sockets, sequence.value, alreadyStored);
    const canHold = isDeferred && sockets.isEmpty;
    const isWriteHeld = hasNewUnread(update, stored) && listeners.onNewMessages(row, update.author, canHold);
    this.#reportRead(stored, row);
    const deleted = listDeleted(update);
    if (deleted.length > 0) listeners.onDeletions(row, deleted);
    if (isDeferred) writeBehind.scheduleFlush(isWriteHeld);
    return isWriteHeld;
  }

  /** Publishes the changed read state of a row. Returns the row as it is now. */
  publishReadState(before: InboxEntry, changedEntry: InboxEntry): InboxEntry {
    const { inbox, choices, sequence, writeBehind } = this.#ports;
    const merged = choices.messageFlags.withoutEnded(changedEntry, before);
    const { hasChanged, needsFullRow } = compareReadState(before, merged);
    const entry = hasChanged ? recordFlagEnds({ ...merged, changed: sequence.next }, before, false) : merged;
    if (needsFullRow) inbox.writeFlags(entry);
    else if (hasChanged || merged.countedUpTo !== before.countedUpTo) writeBehind.deferWrite(entry);
    this.#reportRead(before, entry);
    if (hasChanged) {
      sequence.pushChanges([
        needsFullRow ? toRowPush(toInboxRow(entry)) : toUniformPush((counter) => toOwnReceiptsFrame(counter, entry)),
      ]);
    }
    return entry;
  }

  /** Reports a row whose messages were read or cleared further. */
  #reportRead(before: InboxEntry | undefined, entry: InboxEntry): void {
    const seenBefore = before ? seenUpTo(before) : 0;
    if (seenUpTo(entry) > seenBefore) this.#ports.listeners.onRead(entry, seenBefore);
  }
}
