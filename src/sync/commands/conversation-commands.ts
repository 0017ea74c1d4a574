import { hasLeftGroup } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { createTombstone } from "#contract/messages/body.ts";
import type { Message } from "#contract/messages/message.ts";
import type { Relation } from "#contract/people.ts";
import type { CommandResults } from "#contract/wire/commands.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { deleteConversationDrafts } from "#sync/drafts/delete-drafts.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import type { ServerChange } from "#sync/inbound/server-changes.ts";
import { deleteLocally } from "#sync/operations/delete-locally.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { findOwnMessage } from "#sync/sending/pending-replies.ts";
import type { LocalStore, PersonRow } from "#sync/store/database.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { unparkText } from "#sync/unsent/draft-row.ts";
import { changeDraft, findDraft } from "#sync/unsent/drafts.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { edits, type Operation, toDeletion } from "#sync/unsent/operations.ts";
import { confirmByAnswerOrPush, confirmRowChange } from "./confirm-by-push.ts";

/**
 * Commands that change data on the server. All except deletion need the network. They are sent by HTTP: a socket
 * without a network buffers what it is given and may deliver it long after the person was shown a failure.
 */

/** Longest wait for the server's confirmation before a message is deleted locally. */
const deletionTimeoutMs = 3_000;

/**
 * Applies the server's answer before its push arrives. Without a store, or without room in it, the push is enough: a
 * change that succeeded on the server is never reported as failed.
 */
const applyAnswer = async (port: SyncPort, changes: ServerChange[]): Promise<void> => {
  const context = port.context.get();
  if (context) await applyServerChanges(context, changes).catch(() => undefined); // reported and repaired elsewhere
};

/**
 * Changes the relation to a person. `request` changes it on the server; `isDone` recognises the change in the pushed
 * row. Without an open store only the request is made.
 */
export const runRelationCommand = async (
  port: SyncPort | undefined,
  person: Uuid,
  request: () => Promise<Relation>,
  isDone: (row: PersonRow) => boolean,
): Promise<void> => {
  const context = port?.context.get();
  // A person can be blocked even if the store cannot be read.
  const before = await context?.store.people.get(person).then(
    (row) => ({ pushCount: row?.told ?? 0 }),
    () => undefined,
  );
  if (!port || !before) {
    await request();
    return;
  }
  const relation = await confirmByAnswerOrPush(port, request, async ({ people }) => {
    const row = await people.get(person);
    return row !== undefined && (row.told ?? 0) > before.pushCount && isDone(row);
  });
  if (relation && context === port.context.get()) await applyAnswer(port, [{ type: "relation", relation, ...before }]);
};

/** Change that replaces a message by its tombstone; undefined if the message is not on this device. */
const toDeletionChange = async (
  store: LocalStore,
  conversation: ConversationId,
  seq: number,
  { revision, by }: CommandResults["deleteForEveryone"],
): Promise<ServerChange | undefined> => {
  const held = await store.messages.get([conversation, seq]);
  if (!held) return undefined;
  const { sender, at, cid } = held;
  const message: Message = { seq, sender, at, body: createTombstone(by), ...(cid ? { cid } : {}) };
  return { type: "revised", target: conversation, since: revision - 1, revision, messages: [message] };
};

/** Waits for the answer or push of a deletion and applies the answer. */
const applyDeletionAnswer = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
  request: Promise<CommandResults["deleteForEveryone"]>,
): Promise<void> => {
  const answer = await confirmByAnswerOrPush(
    port,
    () => request,
    async ({ messages }) => (await messages.get([conversation, seq]))?.body.type === "deleted",
  );
  if (!answer) return;
  const context = port.context.get();
  const change = context && (await toDeletionChange(context.store, conversation, seq, answer));
  if (change) await applyAnswer(port, [change]);
};

/** Ends the edits of a message that its author deleted here, with the words that were parked because it is gone. */
const endEdits = async (port: SyncPort, ended: readonly Operation<"edit">[]): Promise<void> => {
  await port.unsent.changeAll(ended.map(edits.remove));
  for (const { conversation, target, text } of ended) {
    const { parked = [] } = findDraft(port.unsent, conversation);
    const words = parked.find((one) => one.target === target && one.text === text);
    if (words)
      await changeDraft(port.unsent, conversation, (draft) => unparkText(draft, words.id)).catch(() => undefined);
  }
};

const listEdits = async (port: SyncPort, conversation: ConversationId, seq: number): Promise<Operation<"edit">[]> => {
  const store = port.context.get()?.store;
  const cid = (await store?.messages.get([conversation, seq]))?.cid;
  return edits
    .list(port.unsent)
    .filter((edit) => edit.conversation === conversation && (edit.target === seq || edit.target === cid));
};

/**
 * Deletes a message for everyone. If the server cannot be reached within `deletionTimeoutMs`, an own one is deleted on
 * this device and a pending deletion is sent later. Rejects with a SyncError if neither is possible.
 */
export const deleteMessageBySeq = async (port: SyncPort, conversation: ConversationId, seq: number): Promise<void> => {
  if (port.link.get() !== "online" && (await deleteLocally(port, conversation, seq))) return;
  const ended = listEdits(port, conversation, seq).catch(() => []); // before the answer or push
  const request = requestByHttp(port.platform, { type: "deleteForEveryone", conversation, seq });
  const applied = applyDeletionAnswer(port, conversation, seq, request);
  let cancel = () => {};
  const timeout = new Promise<never>((_, reject) => {
    cancel = port.platform.startTimer(deletionTimeoutMs, () => reject(new SyncError("offline")));
  });
  try {
    await Promise.race([applied, request.then(() => applied), timeout]);
  } catch (error) {
    const isRetryable = isRetryableFailure(asSyncError(error));
    if (!isRetryable || !(await deleteLocally(port, conversation, seq))) await applied;
  } finally {
    cancel();
  }
  await endEdits(port, await ended).catch((error: unknown) => console.warn("the words of an edit stay", error));
};

/** Deletes a message that was unsent when its author chose so; for everyone if it was sent meanwhile. */
export const deleteMessageByClientId = async (
  port: SyncPort,
  conversation: ConversationId,
  cid: Uuid,
): Promise<void> => {
  if (await discardUnsentMessage(port, cid)) return;
  const context = requireContext(port);
  const message = await findOwnMessage(context, conversation, cid);
  if (message) return deleteMessageBySeq(port, conversation, message.seq);
  await commitUnsent(context, toDeletion({ cid, conversation }, context.platform.now()));
  port.notifyChanged("outbox");
};

/** Deletes the unsent messages and drafts of a group of which nothing else exists, here or on the server. */
const deleteUnsentContent = async (port: SyncPort, conversation: ConversationId): Promise<void> => {
  for (const { cid } of listUnsent(port.unsent, conversation)) await discardUnsentMessage(port, cid);
  await deleteConversationDrafts(port, conversation);
};

/**
 * Clears the history of a conversation for oneself, up to the newest message on this device. `keepListed`: the empty
 * conversation stays in the list; otherwise its drafts are deleted too, and the server keeps nothing of a group that
 * this person left. Rejects with a SyncError.
 */
export const clearConversationHistory = async (
  port: SyncPort,
  conversation: ConversationId,
  keepListed: boolean,
): Promise<void> => {
  const row = await requireContext(port).store.conversations.get(conversation);
  if (!row) return;
  if (row.gone) return deleteUnsentContent(port, conversation);
  // Without loaded messages, the head of the list's row is the newest message.
  const upTo = row.storedFrom <= row.storedTo ? row.storedTo : row.head;
  const answer = await confirmRowChange(
    port,
    conversation,
    () => requestByHttp(port.platform, { type: "clearHistory", conversation, upTo, keep: keepListed }),
    ({ hidden, kept }) => hidden >= upTo && kept === keepListed,
  );
  const { hidden, change } = answer ?? {};
  if (hidden !== undefined && change)
    await applyAnswer(port, [{ type: "cleared", conversation, upTo: hidden, keep: keepListed, change }]);
  if (keepListed) return;
  if (hasLeftGroup(row)) await deleteUnsentContent(port, conversation);
  else await deleteConversationDrafts(port, conversation);
};

/** Pins a message for all members of a conversation, or unpins it. Rejects with a SyncError. */
export const setMessagePinned = async (
  port: SyncPort,
  conversation: ConversationId,
  seq: number,
  pinned: boolean,
): Promise<void> => {
  await confirmRowChange(
    port,
    conversation,
    () => requestByHttp(port.platform, { type: "pinMessage", conversation, seq, pinned }),
    ({ pinnedMessages = [] }) => pinnedMessages.includes(seq) === pinned,
  );
};

/** How a conversation is muted: for this long or without an end, and whether mentions still notify. */
export type MuteOptions = { seconds?: number | undefined; exceptMentions?: boolean };

/** Mutes or unmutes a conversation. Rejects with a SyncError. */
export const setConversationMuted = async (
  port: SyncPort,
  conversation: ConversationId,
  muted: boolean,
  { seconds, exceptMentions = false }: MuteOptions = {},
): Promise<void> => {
  const minUntil = seconds === undefined ? 0 : port.platform.now() + seconds * 500; // tolerates a wrong clock
  const answer = await confirmRowChange(
    port,
    conversation,
    () =>
      requestByHttp(port.platform, {
        type: "mute",
        conversation,
        muted,
        ...(seconds === undefined ? {} : { seconds }),
        ...(exceptMentions ? { exceptMentions } : {}),
      }),
    (row) =>
      row.muted === muted &&
      (row.mutedExceptMentions ?? false) === exceptMentions &&
      (seconds === undefined ? !row.mutedUntil : (row.mutedUntil ?? 0) > minUntil),
  );
  if (answer?.change) {
    const { muted: isMuted, until: mutedUntil = null, exceptMentions: mutedExceptMentions = false, change } = answer;
    const mute = { muted: isMuted, mutedUntil, mutedExceptMentions };
    await applyAnswer(port, [{ type: "muted", conversation, mute, change }]);
  }
};
