import { type ConversationId, createUuid, otherMember, type Uuid } from "#contract/ids.ts";
import { multicastMax } from "#contract/limits/messages.ts";
import { displayNameMaxLength } from "#contract/limits/people.ts";
import { type StoredBody, withoutEdits, withReply } from "#contract/messages/body.ts";
import { isSystemMessage, isTombstone } from "#contract/messages/kinds.ts";
import { withMentions } from "#contract/messages/mentions.ts";
import { findOrFetchMember } from "#sync/inbound/member-loader.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import type { ChatItem } from "#sync/store/view-models.ts";
import { insertUnsentMessages, parseMessageBody, toTextBody, type UnsentMessage } from "./enqueue.ts";
import { findOwnMessage } from "./pending-replies.ts";

/** Forwarding and broadcasting: one body sent to many conversations. */

/** Creates one message per conversation. Up to `multicastMax` of them share an id and one request. */
export const toMulticastMessages = (
  { platform }: SyncPort,
  to: readonly ConversationId[],
  message: Omit<UnsentMessage, "cid" | "conversation" | "multicastId">,
): UnsentMessage[] => {
  let multicastId: Uuid | undefined;
  return to.map((conversation, index) => {
    if (to.length > 1 && index % multicastMax === 0) multicastId = createUuid(platform.now());
    return { cid: createUuid(platform.now()), conversation, ...message, ...(multicastId ? { multicastId } : {}) };
  });
};

const enqueueMessages = async (port: SyncPort, messages: readonly UnsentMessage[]): Promise<void> => {
  const context = requireContext(port);
  await insertUnsentMessages(context, messages).catch(() => undefined); // sent from memory
  port.notifyChanged("outbox");
};

export const enqueueBroadcast = async (port: SyncPort, to: readonly ConversationId[], text: string): Promise<void> =>
  enqueueMessages(port, toMulticastMessages(port, to, { body: toTextBody(text) }));

/**
 * Finds the author of a message and the name under which this person knows them. An unknown group member is fetched.
 * Rejects with a SyncError, "original_gone" if the author's account was deleted: a forward must name its author.
 */
const findWriter = async (context: SyncContext, from: ConversationId, { mine, sender }: ChatItem) => {
  const { store, me } = context;
  if (mine) return { by: me, name: (await readOwnProfile(store))?.username };
  const other = otherMember(from, me);
  if (other !== undefined) return { by: other, name: (await store.people.get(other))?.username };
  const member = sender === undefined ? undefined : await findOrFetchMember(context, from, sender);
  if (!member?.user) throw new SyncError("original_gone");
  const profiles = await readMemberProfiles(store, me, from, [member.number]);
  return { by: member.user, name: profiles[member.number]?.name };
};

const findForwardedAuthor = async (context: SyncContext, from: ConversationId, item: ChatItem) => {
  const { by, name = "" } = await findWriter(context, from, item);
  return { by, name: name.slice(0, displayNameMaxLength) };
};

const getForwarded = (body: StoredBody) => ("forwarded" in body ? body.forwarded : undefined);

/** Current state of a message on screen, which may have been sent or deleted meanwhile. */
const findCurrentMessage = async (context: SyncContext, from: ConversationId, { seq, cid }: ChatItem) => {
  if (seq !== undefined) return context.store.messages.get([from, seq]);
  return cid === undefined ? undefined : findOwnMessage(context, from, cid);
};

/**
 * Queues copies of a message for other conversations, also offline. Resolves once they are durable. Rejects with a
 * SyncError if the message is not on the server yet or was deleted.
 */
export const enqueueForward = async (
  port: SyncPort,
  from: ConversationId,
  item: ChatItem,
  to: readonly ConversationId[],
): Promise<void> => {
  const context = requireContext(port);
  // A message that left this phone's cache may still be on the server; the server's answer decides.
  const { seq, body } = (await findCurrentMessage(context, from, item)) ?? item;
  if (seq === undefined) throw new SyncError("message_not_found");
  if (isTombstone(body) || isSystemMessage(body)) throw new SyncError("original_gone");
  const forwarded = getForwarded(body) ?? (await findForwardedAuthor(context, from, item));
  const source = { conversation: from, seq };
  // Mentions name members of the source, and a reply a message there.
  const copy = withReply(parseMessageBody({ ...withoutEdits(withMentions(body, [])), forwarded }), undefined);
  await enqueueMessages(port, toMulticastMessages(port, to, { body: copy, source }));
};
