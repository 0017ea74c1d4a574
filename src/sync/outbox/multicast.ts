import type { StoredBody } from "#contract/conversations.ts";
import { type ConversationId, createUuid, otherMember, type Uuid } from "#contract/ids.ts";
import { displayNameMaxLength, spreadMax } from "#contract/limits.ts";
import { findMember } from "#sync/inbound/member-loader.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import { readAuthors } from "#sync/store/members.ts";
import { readMe } from "#sync/store/own-profile-row.ts";
import { isEmptied, isTold } from "#sync/store/row-mapping.ts";
import type { ChatItem } from "#sync/store/views.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { findDelivered, getContext, insertUnsent, parseBody, parseText, type Unsent } from "./enqueue.ts";

/** One body to many conversations: forwarding and broadcasting. */

/** Its messages, those that go to the server together marked as such. */
export const toMany = (
  { platform }: Tab,
  to: readonly ConversationId[],
  message: Omit<Unsent, "cid" | "conversation" | "spread">,
): Unsent[] => {
  let spread: Uuid | undefined;
  return to.map((conversation, index) => {
    if (to.length > 1 && index % spreadMax === 0) spread = createUuid(platform.now());
    return { cid: createUuid(platform.now()), conversation, ...message, ...(spread ? { spread } : {}) };
  });
};

const insert = async (tab: Tab, messages: readonly Unsent[]): Promise<void> => {
  const context = getContext(tab);
  await withRoom(context, () => insertUnsent(context, messages)).catch(() => {
    throw new SyncError("unavailable");
  });
  tab.written();
};

export const broadcast = async (tab: Tab, to: readonly ConversationId[], text: string): Promise<void> =>
  insert(tab, toMany(tab, to, { body: parseText(text) }));

/** Who wrote it, by the name this person knows. A member of a group whom this phone does not know is asked for. */
const writerOf = async (context: Context, from: ConversationId, { mine, sender }: ChatItem) => {
  const { store, me } = context;
  if (mine) return { by: me, name: (await readMe(store))?.username };
  const other = otherMember(from, me);
  if (other !== undefined) return { by: other, name: (await store.people.get(other))?.username };
  const member = sender === undefined ? undefined : await findMember(context, from, sender);
  // Whose account is gone cannot be named, and without that nothing of theirs can be passed on.
  if (!member?.user) throw new SyncError("original_gone");
  const authors = await readAuthors(store, me, from, [member.number]);
  return { by: member.user, name: authors[member.number]?.name };
};

const authorOf = async (context: Context, from: ConversationId, item: ChatItem) => {
  const { by, name = "" } = await writerOf(context, from, item);
  return { by, name: name.slice(0, displayNameMaxLength) };
};

const forwardedOf = (body: StoredBody) => ("forwarded" in body ? body.forwarded : undefined);

/** A message as it is here now: it may have arrived, or been deleted, since it was shown. */
const findNow = async (context: Context, from: ConversationId, { seq, cid }: ChatItem) => {
  if (seq !== undefined) return context.store.messages.get([from, seq]);
  return cid === undefined ? undefined : findDelivered(context, from, cid);
};

/** Durably queued, also offline; rejects what is not on the server yet, or not there any more. */
export const forward = async (
  tab: Tab,
  from: ConversationId,
  item: ChatItem,
  to: readonly ConversationId[],
): Promise<void> => {
  const context = getContext(tab);
  // What this phone holds no more may be on the server: that is said by the answer.
  const { seq, body } = (await findNow(context, from, item)) ?? item;
  if (seq === undefined) throw new SyncError("message_not_found");
  if (isEmptied(body) || isTold(body)) throw new SyncError("original_gone");
  const forwarded = forwardedOf(body) ?? (await authorOf(context, from, item));
  const source = { conversation: from, seq };
  await insert(tab, toMany(tab, to, { body: parseBody({ ...body, forwarded }), source }));
};
