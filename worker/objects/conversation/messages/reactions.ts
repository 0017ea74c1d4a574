import { reactorPageRows } from "#contract/limits/messages.ts";
import { messageKinds } from "#contract/messages/kinds.ts";
import type { CommandOf, ReactorPage, Refusal } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import type { MessageRecord } from "#worker/objects/conversation/log/message-table.ts";
import { findLastVisibleRevision } from "./former-view.ts";

/** Message to which a member may react. */
const findReactable = (log: ConversationLog, member: Member, seq: number): MessageRecord | Refusal => {
  const row = log.findVisible(member, seq);
  const isHidden = !row || row.kind === "deleted" || (row.withheld > 0 && row.sender !== member.number);
  if (isHidden) return { error: "message_not_found" };
  return messageKinds[row.kind].nature === "system" ? { error: "not_allowed" } : row;
};

/** Reason why a member may not add a reaction. Whoever may not write may still remove theirs. */
const refuseAdding = (log: ConversationLog, member: Member, seq: number, emoji: string): Refusal | undefined => {
  if (!log.isOpen) return { error: "not_connected" };
  if (member.isBlocking) return { error: "contact_blocked" };
  if (log.isFull) return { error: "conversation_full" };
  return log.reactions.hasRoomFor(seq, member.number, emoji) ? undefined : { error: "too_many_reactions" };
};

/** `isNew`: the reaction was changed now. `isUndelivered`: the other member does not see it. */
export type ReactionResult = { revision: number; isNew: boolean; isUndelivered: boolean };

/** Sets a member's only reaction to a message, null for none, within the caller's transaction. Idempotent. */
export const applyReaction = (
  log: ConversationLog,
  member: Member,
  { seq, emoji }: Pick<CommandOf<"react">, "seq" | "emoji">,
): ReactionResult | Refusal => {
  const row = findReactable(log, member, seq);
  if ("error" in row) return row;
  const before = log.reactions.find(seq, member.number);
  if ((before?.emoji ?? null) === emoji) return { revision: before?.revision ?? 0, isNew: false, isUndelivered: false };
  const refusal = emoji === null ? undefined : refuseAdding(log, member, seq, emoji);
  if (refusal) return refusal;
  const isUndelivered = row.withheld > 0 || log.isSenderBlocked(member.number);
  log.setReaction(seq, member.number, emoji, isUndelivered);
  return { revision: log.revision, isNew: true, isUndelivered };
};

/** Removes all reactions of a deleted account within the caller's transaction. Returns whether there were any. */
export const removeReactionsOf = (log: ConversationLog, member: Member): boolean => {
  const reactions = log.reactions.listOf(member.number);
  for (const { seq, withheld } of reactions) log.setReaction(seq, member.number, null, withheld === 1);
  return reactions.length > 0;
};

/** Page of the members who reacted to a message, the newest reaction first. */
export const listReactors = (
  log: ConversationLog,
  member: Member,
  seq: number,
  { emoji, before = Number.MAX_SAFE_INTEGER }: { emoji?: string | undefined; before?: number | undefined },
): ReactorPage | Refusal => {
  const row = findReactable(log, member, seq);
  if ("error" in row) return row;
  const found = log.reactions.listPage(seq, member.number, {
    emoji,
    before: Math.min(before, findLastVisibleRevision(member) + 1),
    limit: reactorPageRows + 1,
  });
  const page = found.slice(0, reactorPageRows);
  return {
    reactors: page.map((reaction) => ({ member: reaction.member, emoji: reaction.emoji ?? "" })),
    before: found.length > page.length ? (page.at(-1)?.revision ?? null) : null,
  };
};
