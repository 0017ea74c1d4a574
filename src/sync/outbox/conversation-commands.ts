import type { Message } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { deleteConversationDrafts } from "#sync/drafts/draft-rows.ts";
import { applyServerChanges } from "#sync/inbound/apply-server-changes.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore, PersonRow } from "#sync/store/database.ts";
import { insertPendingDeletion } from "#sync/store/pending-deletions.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { confirmByAnswerOrPush } from "./confirm-by-push.ts";
import { deleteLocally } from "./delete-locally.ts";
import { discardUnsentMessage, findOwnMessage, getContext } from "./enqueue.ts";

/**
 * What a person changes of what is stored on the server. All but deleting needs the network, and it goes by HTTP: a socket
 * without a network keeps what it is given and may deliver it long after the person was told that it failed.
 */

/** Whoever deletes a message waits no longer than this for the server to say that it is done. */
const deletionTimeoutMs = 3_000;

/**
 * The answer is taken in before the server's own push of it arrives. Without a store, or room in it, that push is
 * enough: what is done on the server is never told as failed.
 */
const applyAnswer = async (tab: Tab, changes: ServerChange[]): Promise<void> => {
  const context = tab.context.get();
  if (context) await applyServerChanges(context, changes).catch(() => undefined); // the store's trouble is dealt with elsewhere
};

/** Changes how somebody stands to one; `ask` does so on the server, and `isDone` knows it by what is told of it. */
export const runRelationCommand = async (
  tab: Tab | undefined,
  person: Uuid,
  ask: () => Promise<Relation>,
  isDone: (row: PersonRow) => boolean,
): Promise<void> => {
  const context = tab?.context.get();
  // A store that cannot be read keeps nobody from blocking somebody.
  const known = await context?.store.people.get(person).then(
    (row) => ({ pushCount: row?.told ?? 0 }),
    () => undefined,
  );
  if (!tab || !known) {
    await ask();
    return;
  }
  const relation = await confirmByAnswerOrPush(tab, ask, async ({ people }) => {
    const row = await people.get(person);
    return row !== undefined && (row.told ?? 0) > known.pushCount && isDone(row);
  });
  if (relation && context === tab.context.get()) await applyAnswer(tab, [{ type: "relation", relation, ...known }]);
};

/** What is known here by the server's answer that one's own message is deleted; undefined when it is not held here. */
const toDeletionChange = async (
  store: LocalStore,
  conversation: ConversationId,
  seq: number,
  revision: number,
): Promise<ServerChange | undefined> => {
  const held = await store.messages.get([conversation, seq]);
  if (!held) return undefined;
  const { sender, at, cid } = held;
  const message: Message = { seq, sender, at, body: { type: "deleted" }, ...(cid ? { cid } : {}) };
  return { type: "revised", target: conversation, since: revision - 1, revision, messages: [message] };
};

/** Takes in what comes of the question to delete one's own message. */
const applyDeletionAnswer = async (
  tab: Tab,
  conversation: ConversationId,
  seq: number,
  asking: Promise<CommandResults["retract"]>,
): Promise<void> => {
  const answer = await confirmByAnswerOrPush(
    tab,
    () => asking,
    async ({ messages }) => (await messages.get([conversation, seq]))?.body.type === "deleted",
  );
  if (!answer) return;
  const context = tab.context.get();
  const change = context && (await toDeletionChange(context.store, conversation, seq, answer.revision));
  if (change) await applyAnswer(tab, [change]);
};

/** Deletes one's own message for everybody: here at once where the server cannot be told now, and there later. */
export const deleteOwnMessage = async (tab: Tab, conversation: ConversationId, seq: number): Promise<void> => {
  if (tab.link.get() !== "online" && (await deleteLocally(tab, conversation, seq))) return;
  const asking = requestByHttp(tab.platform, { type: "retract", conversation, seq });
  const taking = applyDeletionAnswer(tab, conversation, seq, asking);
  let cancel = () => {};
  const silence = new Promise<never>((_, reject) => {
    cancel = tab.platform.startTimer(deletionTimeoutMs, () => reject(new SyncError("offline")));
  });
  try {
    await Promise.race([taking, asking.then(() => taking), silence]);
  } catch (error) {
    const mayComeLater = isRetryableFailure(asSyncError(error));
    if (!mayComeLater || !(await deleteLocally(tab, conversation, seq))) await taking;
  } finally {
    cancel();
  }
};

/** Deletes what was unsent when its author was asked: what arrived meanwhile is deleted for everybody. */
export const deleteMessageByClientId = async (tab: Tab, conversation: ConversationId, cid: Uuid): Promise<void> => {
  if (await discardUnsentMessage(tab, cid)) return;
  const context = getContext(tab);
  const message = await findOwnMessage(context, conversation, cid);
  if (message) return deleteOwnMessage(tab, conversation, message.seq);
  const { strict } = context;
  await strict.transaction("rw", strict.meta, () => insertPendingDeletion(strict, { cid, conversation }));
  tab.notifyOutboxChanged();
};

/** What was written in a group that is gone is all there is of it, and is thrown away here alone. */
const deleteUnsentContent = async (tab: Tab, conversation: ConversationId): Promise<void> => {
  const { store } = getContext(tab);
  for (const { cid } of await store.queryUnsent(conversation).toArray()) await discardUnsentMessage(tab, cid);
  await deleteConversationDrafts(tab, conversation);
};

/** Removes from my view what this device has of a conversation; what has come in meanwhile stays. */
export const clearConversationHistory = async (
  tab: Tab,
  conversation: ConversationId,
  keep: boolean,
): Promise<void> => {
  const row = await getContext(tab).store.conversations.get(conversation);
  if (!row) return;
  if (row.gone) return deleteUnsentContent(tab, conversation);
  // Of one that was never opened here the newest message is known from the list.
  const upTo = row.lo <= row.hi ? row.hi : row.head;
  const pushCount = row.told ?? 0;
  const answer = await confirmByAnswerOrPush(
    tab,
    () => requestByHttp(tab.platform, { type: "hide", conversation, upTo, keep }),
    async ({ conversations }) => {
      const now = await conversations.get(conversation);
      return now !== undefined && (now.told ?? 0) > pushCount && now.hidden >= upTo && now.kept === keep;
    },
  );
  if (answer) await applyAnswer(tab, [{ type: "cleared", conversation, upTo: answer.hidden, keep, pushCount }]);
  if (!keep) await deleteConversationDrafts(tab, conversation);
};

export const setConversationMuted = async (tab: Tab, conversation: ConversationId, muted: boolean): Promise<void> => {
  const pushCount = await tab.context
    .get()
    ?.store.conversations.get(conversation)
    .then(
      (row) => row?.told ?? 0,
      () => undefined,
    );
  const ask = () => requestByHttp(tab.platform, { type: "mute", conversation, muted });
  if (pushCount === undefined) {
    await ask();
    return;
  }
  const answer = await confirmByAnswerOrPush(tab, ask, async ({ conversations }) => {
    const row = await conversations.get(conversation);
    return row !== undefined && (row.told ?? 0) > pushCount && row.muted === muted;
  });
  if (answer) await applyAnswer(tab, [{ type: "muted", conversation, muted: answer.muted, pushCount }]);
};
