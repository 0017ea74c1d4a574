import type { ConversationId } from "#contract/ids.ts";
import { withReply } from "#contract/messages/body.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { MentionResolver } from "./mentions/mention-resolver.ts";
import { findOwnMessage } from "./pending-replies.ts";
import { updateMessage } from "./refused-messages.ts";

/**
 * Messages that may be sent now, with the seqs of the messages they answer. One whose mentions are still to be found is
 * given to `mentions` and waits, and with it the later messages of its conversation. A reply waits for its target, and
 * with it the later messages of its conversation; those written after a file overtake the file and replies to it. If
 * the target was discarded or is refused, the reply is sent as an ordinary message.
 */
export const selectSendable = async (
  context: SyncContext,
  due: readonly OutboxRow[],
  mentions: Pick<MentionResolver, "start">,
): Promise<OutboxRow[]> => {
  if (due.every(({ replyTo, mayMention }) => replyTo === undefined && !mayMention)) return [...due];
  const { unsent } = context;
  const sendable: OutboxRow[] = [];
  const waiting = new Set<ConversationId>();
  for (const row of due) {
    if (waiting.has(row.conversation)) continue;
    if (row.mayMention) {
      waiting.add(row.conversation);
      mentions.start(row);
      continue;
    }
    const target = row.replyTo === undefined ? undefined : unsent.find("outbox", row.replyTo);
    if (target?.state === "queued") waiting.add(row.conversation);
    if (target && target.state !== "failed") continue;
    const sent = row.replyTo === undefined ? undefined : await findOwnMessage(context, row.conversation, row.replyTo);
    if (!sent) {
      sendable.push(row);
      continue;
    }
    const body = withReply(row.body, sent.seq);
    // First, because the acknowledgement copies the body from the outbox.
    updateMessage(context, row.cid, { body, replyTo: undefined });
    sendable.push({ ...row, body });
  }
  return sendable;
};
