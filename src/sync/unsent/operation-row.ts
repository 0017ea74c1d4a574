import * as v from "valibot";
import { errorCodes } from "#contract/errors.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Seq } from "#contract/messages/positions.ts";
import { Exceptions, SettingsChange } from "#contract/settings/settings.ts";
import { ChangeNumber } from "#contract/wire/commands.ts";
import { ReplyTarget } from "./draft-row.ts";
import { WrittenBody } from "./outbox-row.ts";

/**
 * Row of an operation. A row of a later version, with a kind or a property that this one does not know, cannot be read
 * here and waits for that version.
 */
const defineRow = <Kind extends string, Content extends v.ObjectEntries>(kind: Kind, content: Content) =>
  v.strictObject({
    key: v.string(),
    kind: v.literal(kind),
    /** Device time of the choice. Each version of a row has a time of its own. */
    at: v.number(),
    ...content,
  });

/**
 * Change of something that the server has, which the person made and the server has not confirmed. A later one with the
 * same target replaces it.
 */
export const OperationRow = v.variant("kind", [
  /** Deletion for everyone of an own message, which the server may or may not have. */
  defineRow("deletion", { cid: Uuid, conversation: ConversationId }),
  /**
   * New text of an own message. `target`: its client id, or its seq if this device does not know that. `edit`: number of
   * earlier edits seen or made here. `body`: the message as its author sees it. `error`: why the server refused the
   * edit; its author decides.
   */
  defineRow("edit", {
    conversation: ConversationId,
    target: v.union([Seq, Uuid]),
    edit: v.number(),
    text: v.string(),
    body: WrittenBody,
    error: v.optional(v.picklist(errorCodes)),
  }),
  /**
   * Reaction to a message, null to remove it. `target`: its seq in the log `epoch`, or the client id of an own one that
   * was unsent.
   */
  defineRow("reaction", {
    conversation: ConversationId,
    target: ReplyTarget,
    emoji: v.nullable(v.string()),
    epoch: v.string(),
  }),
  /**
   * Flags of a conversation. `known`: newest change of the inbox that this device had then. `chosenAt`: time of the
   * first unsent choice, or of the last one to pin: the order of sending.
   */
  defineRow("conversationFlags", {
    conversation: ConversationId,
    chosenAt: v.number(),
    marked: v.optional(v.boolean()),
    archived: v.optional(v.boolean()),
    pinned: v.optional(v.union([v.boolean(), v.number()])),
    known: v.optional(ChangeNumber),
  }),
  /** Star of a message, or its deletion for this person alone. `epoch`: log of the message. */
  defineRow("messageFlags", {
    conversation: ConversationId,
    seq: Seq,
    epoch: v.string(),
    starred: v.optional(v.boolean()),
    deleted: v.optional(v.literal(true)),
  }),
  /** Changed settings. `excepted`: the server's lists of exceptions before, to which other devices may add meanwhile. */
  defineRow("settings", { wanted: SettingsChange, excepted: v.optional(v.partial(Exceptions)) }),
]);
export type OperationRow = v.InferOutput<typeof OperationRow>;
