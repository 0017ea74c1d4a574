import * as v from "valibot";
import { hasEnded } from "#contract/conversations.ts";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { Body, ReplyPlace, withReply } from "#contract/messages/body.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore, OutboxRow } from "#sync/store/database.ts";
import {
  clearSentText,
  type JournaledText,
  journalSentText,
  listSentTexts,
  type StoredPlace,
} from "#sync/store/journal.ts";
import { insertPendingDeletion } from "#sync/store/pending/pending-deletions.ts";
import { createConversationRow, setListPosition } from "#sync/store/row-mapping.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { deleteOutboxRow, failUnsentMessages } from "#sync/store/unsent-messages.ts";
import { waitForStore } from "#sync/store/wait-for-store.ts";
import { type DraftRow, endSentText, type ReplyTarget } from "#sync/unsent/draft-row.ts";
import { changeDraft, findDraft } from "#sync/unsent/drafts.ts";
import { findOrDeferMentions, mayMention } from "./mentions/pending-mentions.ts";
import { findOwnMessage, toReplyFields } from "./pending-replies.ts";

const memoryAckTimeoutMs = 15_000;

/** Validates a message body. Throws a SyncError. */
export const parseMessageBody = (body: unknown): Body => {
  const parsed = v.safeParse(Body, body);
  if (parsed.success) return parsed.output;
  const code = parsed.issues[0].message;
  throw new SyncError(isErrorCode(code) ? code : "invalid_text");
};

/** Message to insert into the outbox. */
export type UnsentMessage = Pick<OutboxRow, "cid" | "conversation" | "body"> &
  Partial<Pick<OutboxRow, "state" | "source" | "multicastId" | "batch">> & {
    /** Message that it answers. */
    target?: ReplyTarget | undefined;
  };

/**
 * Inserts messages into the outbox in the given order, with the mentions of members that they name. `write` runs in the
 * same transaction. Messages to a group that this person no longer belongs to are marked as failed.
 */
export const insertUnsentMessages = (
  context: SyncContext,
  messages: readonly UnsentMessage[],
  write: (createdAt: number) => Promise<unknown> = async () => {},
): Promise<void> => {
  const { strict, me, platform } = context;
  // Without the blobs table: a text must not wait while a large file is written.
  const tables = [strict.outbox, strict.conversations, strict.meta, strict.uploads];
  const memberTables = messages.some(mayMention) ? [strict.members, strict.people] : [];
  const replyTables = messages.some(({ target }) => typeof target === "string") ? [strict.messages] : [];
  return strict.transaction("rw", [...tables, ...memberTables, ...replyTables], async () => {
    const last = await strict.outbox.orderBy("order").last();
    const { skew } = await readSyncCursor(strict);
    const createdAt = platform.now() + skew;
    let order = last?.order ?? 0;
    const undeliverable = new Map<Uuid, ConversationId>();
    for (const { target, ...message } of messages) {
      // Another tab may have recovered it from the journal.
      if ((await strict.outbox.get(message.cid)) !== undefined) continue;
      const content = mayMention(message) ? await findOrDeferMentions(context, message) : { body: message.body };
      const reply = target === undefined ? {} : await toReplyFields(strict, { ...message, ...content }, target);
      const row = { state: "queued" as const, attempts: 0, ...message, ...content, ...reply };
      await strict.outbox.add({ ...row, order: ++order, createdAt });
      const conversation =
        (await strict.conversations.get(message.conversation)) ?? createConversationRow(message.conversation, me);
      setListPosition(conversation, createdAt);
      await strict.conversations.put(conversation);
      if (hasEnded(conversation)) undeliverable.set(message.cid, conversation.id);
    }
    await write(createdAt);
    for (const id of new Set(undeliverable.values()))
      await failUnsentMessages(strict, id, ({ cid }) => undeliverable.has(cid));
  });
};

/** The body as an answer to a message whose place is known. */
const toReplyBody = (body: Body, target: ReplyTarget | undefined): Body =>
  v.is(ReplyPlace, target) ? withReply(body, target) : body;

export const toTextBody = (text: string): Body => parseMessageBody({ type: "text", text: cleanText(text) });

/**
 * Client ids of texts that the full phone could not store, by conversation and text. The same text sent again keeps its
 * id, also from another screen, so that the server stores it once.
 */
const unstoredMessageIds = new Map<string, Uuid>();

const toUnstoredKey = (conversation: ConversationId, body: Body): string => `${conversation} ${JSON.stringify(body)}`;

/** Sends a text directly to the server, because the phone has no storage left. Rejects with a SyncError. */
const sendUnstoredText = async (port: SyncPort, conversation: ConversationId, body: Body, cid: Uuid): Promise<void> => {
  const key = toUnstoredKey(conversation, body);
  unstoredMessageIds.set(key, cid);
  await requestByHttp(port.platform, { type: "send", conversation, messages: [{ cid, body }] });
  unstoredMessageIds.delete(key);
};

type TextOptions = {
  /** Called at once if the journal holds the text, so that it survives the page. */
  onJournaled?: () => void;
  /** Message that the text answers. */
  target?: ReplyTarget | undefined;
};

/**
 * Stores a text message for sending. Resolves once it is durable; rejects with a SyncError if it is stored nowhere.
 */
export const enqueueText = async (
  port: SyncPort,
  conversation: ConversationId,
  text: string,
  { onJournaled, target }: TextOptions = {},
): Promise<void> => {
  const context = requireContext(port);
  const body = toReplyBody(toTextBody(text), target);
  const key = toUnstoredKey(conversation, body);
  const cid = unstoredMessageIds.get(key) ?? createUuid(port.platform.now());
  if (journalSentText(context, { cid, conversation, text, reply: target })) onJournaled?.();
  try {
    await retryOnQuotaError(context, () => insertUnsentMessages(context, [{ cid, conversation, body, target }]));
    unstoredMessageIds.delete(key); // the same text sent once more is a new message
  } catch (error) {
    try {
      if (!isQuotaError(error)) throw new SyncError("unavailable" satisfies ErrorCode);
      return await sendUnstoredText(port, conversation, body, cid);
    } finally {
      clearSentText(context, cid);
    }
  }
  port.typing.resetThrottle(conversation);
  port.notifyChanged("outbox");
  // A store in memory does not survive the page, so the author waits until the server has the message.
  if (port.isInMemory) {
    const isSent = async ({ outbox }: LocalStore) => (await outbox.get(cid))?.state !== "queued";
    await waitForStore(port, isSent, memoryAckTimeoutMs);
  }
};

/**
 * Ends the draft that a former page or a first view sent: that text, or the one that a first view continued. A text is
 * sent without the spaces around it, which a keyboard adds to its draft. Resolves although it could not be committed:
 * then it is tried again.
 */
const endSentDraft = async (
  { unsent, platform }: SyncContext,
  { conversation, text, draft: continued }: JournaledText,
): Promise<void> => {
  const at = platform.now();
  const isSent = (draft: DraftRow) => cleanText(draft.text) === text || draft.text === continued;
  if (!isSent(findDraft(unsent, conversation))) return;
  const end = (draft: DraftRow) => (isSent(draft) ? endSentText(draft, text, draft.text, at) : draft);
  await changeDraft(unsent, conversation, end).catch(() => undefined);
};

/**
 * Stores a text that the first view has sent in its place in the log. It never was in the outbox, so that no tab sends
 * or shows it twice. Resolves to false if this device has another log: the text is then sent once more under its client
 * id.
 */
const insertStoredText = async (context: SyncContext, journaled: JournaledText, place: StoredPlace) => {
  const { cid, conversation, text, reply } = journaled;
  const body = toReplyBody(toTextBody(text), reply);
  const { sentIds } = await applyServerChanges(context, [{ type: "sent", conversation, cid, body, ...place }]);
  if (!sentIds.includes(cid)) return false;
  await endSentDraft(context, journaled);
  clearSentText(context, cid);
  return true;
};

/** Stores a text of the journal in the log if the server has it, otherwise in the outbox. */
const insertJournaledText = async (context: SyncContext, journaled: JournaledText): Promise<void> => {
  const { cid, conversation, text, reply, stored } = journaled;
  if (stored && (await insertStoredText(context, journaled, stored))) return;
  await insertUnsentMessages(context, [{ cid, conversation, body: toTextBody(text), target: reply }]);
  await endSentDraft(context, journaled);
};

/**
 * Inserts journaled texts that the store lacks, because the page closed before the write or because the store was lost.
 * They keep their client ids, so that the server stores none twice.
 */
export const recoverJournaledTexts = async (port: SyncPort): Promise<void> => {
  const context = port.context.get();
  if (!context || listSentTexts(context).length === 0) return;
  const queued = new Set(await context.strict.outbox.toCollection().primaryKeys());
  for (const journaled of listSentTexts(context)) {
    const { cid, conversation, stored } = journaled;
    if (queued.has(cid) && !stored) continue;
    const text = cleanText(journaled.text); // written by the page's inline script if the app had not loaded
    if (isBlank(text)) {
      clearSentText(context, cid);
      continue;
    }
    try {
      const isStored = await findOwnMessage(context, conversation, cid);
      if (isStored) {
        await endSentDraft(context, { ...journaled, text });
        clearSentText(context, cid);
      } else await retryOnQuotaError(context, () => insertJournaledText(context, { ...journaled, text }));
    } catch (error) {
      if (isQuotaError(error)) return; // it stays in the journal until there is room
      throw error;
    }
    port.notifyChanged("outbox");
  }
};

/** Recovers journaled texts now and whenever a store is opened. Returns a function that stops it. */
export const startJournalRecovery = (port: SyncPort): (() => void) => {
  const recover = () => {
    const context = port.context.get();
    if (context) runInBackground(context, recoverJournaledTexts(port));
  };
  recover();
  return port.context.subscribe(recover);
};

/**
 * Discards an unsent message. A pending deletion covers a message that the server may have received. Resolves to false
 * if the message was already sent.
 */
export const discardUnsentMessage = async (port: SyncPort, cid: Uuid): Promise<boolean> => {
  const context = requireContext(port);
  const { strict } = context;
  const wasUnsent = await strict.transaction("rw", [...strict.sendingTables, strict.recordings], async () => {
    const row = await strict.outbox.get(cid);
    if (!row) return false;
    const { conversation } = row;
    if (row.state !== "awaiting") await insertPendingDeletion(strict, { cid, conversation });
    await deleteOutboxRow(strict, row);
    return true;
  });
  clearSentText(context, cid);
  void context.platform.deleteFirstViews();
  port.notifyChanged("outbox");
  return wasUnsent;
};
