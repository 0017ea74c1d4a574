import type { ConversationId } from "#contract/ids.ts";
import { type ConversationFlags, isSameFlags } from "#contract/settings/conversation-flags.ts";
import { toRowFrame } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { ChangeSequence } from "./change-sequence.ts";
import { toInboxRow } from "./changes-query.ts";
import type { InboxEntry } from "./inbox-merge.ts";
import type { InboxTable } from "./inbox-table.ts";
import { type InboxMute, isLouderMute, isSameMute } from "./mute.ts";
import { toUniformPush } from "./push-builders.ts";

type ConversationChoicesPorts = {
  inbox: InboxTable;
  sequence: Pick<ChangeSequence, "next" | "pushChanges">;
  onUnmuted(entry: InboxEntry): void;
};

/** Flags and mute of a conversation, as its person chooses them. Each choice is written at once and pushed. */
export class ConversationChoices {
  readonly #ports: ConversationChoicesPorts;

  constructor(ports: ConversationChoicesPorts) {
    this.#ports = ports;
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
    const frame = toUniformPush((counter, base) => toRowFrame(counter, toInboxRow(entry), base));
    this.#ports.sequence.pushChanges([frame]);
  }
}
