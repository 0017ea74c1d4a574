import type { Message } from "#contract/messages/message.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { Member } from "#worker/objects/conversation/log/member-table.ts";
import { type MessageRecord, toVisibleMessage } from "#worker/objects/conversation/log/message-table.ts";
import { findLastVisibleRevision, toReadableRow } from "./former-view.ts";

/** Messages as a member may see them, with their reactions. */
export const toVisibleMessages = (log: ConversationLog, member: Member, rows: readonly MessageRecord[]): Message[] => {
  const summaries = log.reactions.summarize(
    rows.map(({ seq }) => seq),
    member.number,
    findLastVisibleRevision(member),
  );
  return rows.map((row) => {
    const message = toVisibleMessage(toReadableRow(log, member, row), member);
    const reactions = summaries.get(row.seq);
    return reactions === undefined ? message : { ...message, reactions };
  });
};
