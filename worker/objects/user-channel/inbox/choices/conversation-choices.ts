import type { ConversationId } from "#contract/ids.ts";
import { type ConversationFlags, isSameFlags } from "#contract/settings/conversation-flags.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { ChangeSequence } from "#worker/objects/user-channel/inbox/change-sequence.ts";
import { toInboxRow } from "#worker/objects/user-channel/inbox/changes-query.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import type { InboxTable } from "#worker/objects/user-channel/inbox/inbox-table.ts";
import { toRowPush } from "#worker/objects/user-channel/inbox/push-builders.ts";
import { MessageFlagTable, type StoredMessageFlags, withoutPreview } from "./message-flag-table.ts";
import { type InboxMute, isLouderMute, isSameMute } from "./mute.ts";

type ConversationChoicesPorts = {
  sql: SqlStorage;
  inbox: InboxTable;
  sequence: Pick<ChangeSequence, "next" | "pushChanges">;
  onUnmuted(entry: InboxEntry): void;
};

/** Flags and mute of a conversation, and flags of its messages. Each choice is written and pushed at once. */
export class ConversationChoices {
  readonly #ports: ConversationChoicesPorts;
  readonly messageFlags: MessageFlagTable;

  constructor(ports: ConversationChoicesPorts) {
    this.#ports = ports;
    this.messageFlags = new MessageFlagTable(ports.sql);
  }

  /** Sets the flags of a conversation. Returns its row; undefined if there is no such row. */
  setFlags(conversation: ConversationId, flags: ConversationFlags): InboxEntry | undefined {
    const { inbox, sequence } = this.#ports;
    const before = inbox.find(conversation);
    if (!before || before.gone) return undefined;
    if (isSameFlags(before, flags)) return before;
    const changed = sequence.next;
    const lastReadChange = before.marked && !flags.marked ? changed : before.lastReadChange;
    const entry = { ...before, ...flags, changed, lastReadChange };
    inbox.writeFlags(entry);
    this.#push(entry);
    return entry;
  }

  /** Sets the flags of a message. Returns the row of its conversation; undefined if there is no such row. */
  setMessageFlags(conversation: ConversationId, seq: number, flags: StoredMessageFlags): InboxEntry | undefined {
    const { inbox, sequence } = this.#ports;
    const before = inbox.find(conversation);
    if (!before || before.gone) return undefined;
    this.messageFlags.write(before.handle, seq, flags);
    const changed = sequence.next;
    const changedRow = { ...before, changed, flagsRevision: changed };
    const isPreviewDeleted = flags.isDeleted && seq === before.head;
    const entry = isPreviewDeleted ? withoutPreview(changedRow) : changedRow;
    inbox.write(entry);
    this.#push(entry);
    return entry;
  }

  listMessageFlags(conversation: ConversationId): MessageFlags | undefined {
    const row = this.#ports.inbox.find(conversation);
    return row && !row.gone ? this.messageFlags.list(row) : undefined;
  }

  /** Number of pinned conversations, and when the last one was pinned. */
  get pins(): { count: number; last: number | null } {
    return this.#ports.inbox.pins;
  }

  /** Sets the mute of a conversation. Returns its row; undefined if there is no such row. */
  setMute(conversation: ConversationId, mute: InboxMute): InboxEntry | undefined {
    const { inbox, sequence, onUnmuted } = this.#ports;
    const before = inbox.find(conversation);
    if (!before || before.gone) return undefined;
    if (isSameMute(before, mute)) return before;
    const entry = { ...before, ...mute, changed: sequence.next };
    inbox.writeMuted(entry);
    this.#push(entry);
    if (isLouderMute(before, mute, Date.now())) onUnmuted(entry);
    return entry;
  }

  #push(entry: InboxEntry): void {
    this.#ports.sequence.pushChanges([toRowPush(toInboxRow(entry))]);
  }
}
