import { editWindowMs } from "#contract/limits/messages.ts";
import { getEditNumber, isEditableBody, withText } from "#contract/messages/body.ts";
import { messageKinds } from "#contract/messages/kinds.ts";
import { keepMentions, withMentions } from "#contract/messages/mentions.ts";
import type { CommandOf, Refusal } from "#contract/wire/commands.ts";
import { fromBodyColumns, toBodyColumns } from "#worker/objects/conversation/log/body-columns.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { isWithinMembership } from "#worker/objects/conversation/log/memberships.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";

/** New text of a message, named by seq or by client id (`docs/decisions/message-editing.md`). */
export type MessageEdit = Pick<CommandOf<"editMessage">, "target" | "edit" | "text">;

/** `isNew`: the text was changed now. `isUndelivered`: the message or this text does not reach the other member. */
export type EditResult = { revision: number; edited: number; isNew: boolean; isUndelivered: boolean };

/** The message that an edit names. Members cannot edit messages of a membership whose history they deleted. */
const findTarget = (log: ConversationLog, member: Member, target: MessageEdit["target"]): MessageRecord | undefined => {
  const seq = typeof target === "number" ? target : log.messages.findByClientId(member.number, target)?.seq;
  return seq !== undefined && isWithinMembership(member, log.head, seq) ? log.messages.find(seq) : undefined;
};

/** Why a member may not write new words into a message now. */
const findRefusal = (log: ConversationLog, member: Member, at: number, now: number): Refusal | undefined => {
  if (now - at > editWindowMs) return { error: "edit_too_late" };
  if (!log.isOpen) return { error: "not_connected" };
  return member.isBlocking ? { error: "contact_blocked" } : undefined;
};

/**
 * Replaces the text or caption of a member's own message within the caller's transaction. The last edit that arrives
 * wins. A repeated edit changes nothing, whatever happened since. `takeBytes` charges the new text to the member.
 */
export const applyEdit = (
  log: ConversationLog,
  member: Member,
  { target, edit, text }: MessageEdit,
  takeBytes: (text: string) => Refusal | undefined,
  now: number,
): EditResult | Refusal => {
  const row = findTarget(log, member, target);
  if (!row) {
    const isDeleted = typeof target === "string" && log.pendingDeletions.has(member, target);
    return { error: isDeleted ? "message_withdrawn" : "message_not_found" };
  }
  if (row.sender !== member.number || messageKinds[row.kind].nature === "system") return { error: "not_your_message" };
  if (row.kind === "deleted") return { error: "message_withdrawn" };
  const body = fromBodyColumns(row.kind, row.body);
  if (!isEditableBody(body)) return { error: "invalid_input" };
  if (body.type === "text" && text === "") return { error: "empty_message" };
  const [before, edited] = [body.text ?? "", getEditNumber(body)];
  const isBlocked = log.isSenderBlocked(member.number);
  const isUndelivered = isBlocked || row.withheld > 0;
  if (text === before || log.earlierTexts.hasLater(row.seq, edit, text))
    return { revision: row.revision, edited, isNew: false, isUndelivered };
  const refusal = findRefusal(log, member, row.at, now) ?? takeBytes(text);
  if (refusal) return refusal;
  const number = Math.max(edited, edit) + 1;
  const changed = withMentions(withText(body, text, number), keepMentions(body, text));
  log.addRevisions(1);
  // Words of a blocked person reach nobody: the other member keeps the text they have.
  const shown = isBlocked ? (row.shown ?? JSON.stringify(body)) : null;
  log.messages.replace({ ...row, ...toBodyColumns(changed), revision: log.revision, shown });
  log.mentions.replace(row.seq, body, changed);
  log.earlierTexts.add({ seq: row.seq, number: edited, text: before, at: now, revision: log.revision });
  return { revision: log.revision, edited: number, isNew: true, isUndelivered };
};
