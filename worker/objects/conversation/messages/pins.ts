import { isGroupActionAllowed } from "#contract/groups.ts";
import { pinnedMessagesMax } from "#contract/limits/messages.ts";
import { messageKinds } from "#contract/messages/kinds.ts";
import type { CommandOf, Refusal } from "#contract/wire/commands.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { listPinnedFor, withoutPin, withPin } from "#worker/objects/conversation/log/pinned-messages.ts";

/** `isNew`: pinned or unpinned now. `isUndelivered`: the other member does not notice. */
export type PinResult = { isNew: boolean; isUndelivered: boolean };

/** Reason why a member may not pin another message. Whoever may not write in a private chat may still unpin. */
const refusePinning = (log: ConversationLog, member: Member, pinnedCount: number): Refusal | undefined => {
  if (!log.isOpen) return { error: "not_connected" };
  if (member.isBlocking) return { error: "contact_blocked" };
  if (log.isFull) return { error: "conversation_full" };
  return pinnedCount >= pinnedMessagesMax ? { error: "too_many_pinned_messages" } : undefined;
};

/** Pins or unpins a message within the caller's transaction. A pin appends a system message. Idempotent. */
export const applyPin = (
  log: ConversationLog,
  member: Member,
  { seq, pinned: isPinned }: Pick<CommandOf<"pinMessage">, "seq" | "pinned">,
  now: number,
): PinResult | Refusal => {
  if (log.group && !isGroupActionAllowed(member.role, "pin")) return { error: "not_allowed" };
  const before = listPinnedFor(log.pinned, member, log.head);
  const isUnpin = !isPinned && before.includes(seq);
  const row = isUnpin ? log.messages.find(seq) : log.findVisible(member, seq);
  const isHidden = !row || row.kind === "deleted" || (row.withheld > 0 && row.sender !== member.number);
  if (isHidden) return { error: "message_not_found" };
  if (messageKinds[row.kind].nature === "system") return { error: "not_allowed" };
  const isUndelivered = row.withheld > 0 || log.isSenderBlocked(member.number);
  if (before.includes(seq) === isPinned) return { isNew: false, isUndelivered };
  const scope = { member, isUndelivered };
  if (isPinned) {
    const refusal = refusePinning(log, member, before.length);
    if (refusal) return refusal;
    log.setPinned(withPin(log.pinned, seq, scope, now));
    log.append(member.number, crypto.randomUUID(), { type: "event", event: "pinned" }, now, isUndelivered);
  } else if (log.pinned) {
    const others = log.members.all.filter((other) => other !== member);
    log.setPinned(withoutPin(log.pinned, seq, scope, others, now));
  }
  return { isNew: true, isUndelivered };
};
