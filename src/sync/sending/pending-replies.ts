import * as v from "valibot";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { ReplyPlace, withReply } from "#contract/messages/body.ts";
import type { LocalMessageRow, LocalStore, OutboxRow } from "#sync/store/database.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";

/** Replies to own messages that have no seq yet: the outbox names them by their client ids until they are sent. */

/** Number of newest messages searched for an own message. */
const recentMessageCount = 200;

/** Finds an own stored message by its client id among the newest messages on this device. */
export const findOwnMessage = async (
  { store }: { store: LocalStore },
  conversation: ConversationId,
  cid: Uuid | undefined,
) => {
  const newest = store.messages
    .where("[conversation+seq]")
    .between([conversation, 0], [conversation, Infinity])
    .reverse();
  return (await newest.limit(recentMessageCount).toArray()).find((message) => message.cid === cid);
};

/** Stored message that an edit names. */
export const findEditedMessage = (
  store: LocalStore,
  conversation: ConversationId,
  target: ReplyTarget | undefined,
): Promise<LocalMessageRow | undefined> =>
  typeof target === "number"
    ? store.messages.get([conversation, target])
    : findOwnMessage({ store }, conversation, target);

/**
 * Fields of an outbox row that name the message it answers. A message that is neither stored nor in the outbox was
 * discarded and is left out. Requires a transaction over the outbox and the messages if the target is a client id.
 */
export const toReplyFields = async (
  store: LocalStore,
  { conversation, body }: Pick<OutboxRow, "conversation" | "body">,
  target: ReplyTarget,
): Promise<Partial<Pick<OutboxRow, "body" | "replyTo">>> => {
  if (v.is(ReplyPlace, target)) return { body: withReply(body, target) };
  if ((await store.outbox.get(target)) !== undefined) return { replyTo: target };
  const sent = await findOwnMessage({ store }, conversation, target);
  return sent ? { body: withReply(body, sent.seq) } : {};
};
