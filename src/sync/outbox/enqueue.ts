import * as v from "valibot";
import { Body, findAttachment } from "#contract/conversations.ts";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { cleanText } from "#contract/text.ts";
import { requestByHttp } from "#sync/connection/http-transport.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { readTextDraft } from "#sync/queries/queries.ts";
import { type OutboxRow, toTextDraftKey } from "#sync/store/database.ts";
import { clearSentText, journalSentText, listSentTexts } from "#sync/store/journal.ts";
import { insertPendingDeletion } from "#sync/store/pending-deletions.ts";
import { createConversationRow, setListPosition } from "#sync/store/row-mapping.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, runInBackground, type SyncContext } from "#sync/store/sync-context.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { failUnsentMessages, removeUnsentMessage } from "#sync/store/unsent-messages.ts";
import type { Tab } from "#sync/tabs/tab.ts";

const memoryAckTimeoutMs = 15_000;
/** A text that is noted was sent a moment before its page was gone: if it is in the log, it is among so many. */
const recentMessageCount = 200;

export const getContext = (tab: Tab): SyncContext => {
  const context = tab.context.get();
  if (!context) throw new SyncError("unavailable");
  return context;
};

/** A body as it may be sent; throws a SyncError. */
export const parseMessageBody = (body: unknown): Body => {
  const parsed = v.safeParse(Body, body);
  if (parsed.success) return parsed.output;
  const code = parsed.issues[0].message;
  throw new SyncError(isErrorCode(code) ? code : "invalid_text");
};

/** A message to be kept until it is sent. */
export type UnsentMessage = Pick<OutboxRow, "cid" | "conversation" | "body"> &
  Partial<Pick<OutboxRow, "state" | "source" | "spread" | "batch">>;

/** Puts messages into the outbox, in their order, in one transaction with what else is to be written with them. */
export const insertUnsentMessages = (
  { strict, me, platform }: SyncContext,
  messages: readonly UnsentMessage[],
  write: (createdAt: number) => Promise<unknown> = async () => {},
): Promise<void> =>
  // Without the bytes of files: while a big one is written here, a text must not wait.
  strict.transaction("rw", [strict.outbox, strict.conversations, strict.meta, strict.uploads], async () => {
    const last = await strict.outbox.orderBy("order").last();
    const { skew } = await readSyncCursor(strict);
    const createdAt = platform.now() + skew;
    let order = last?.order ?? 0;
    const late = new Map<Uuid, ConversationId>();
    for (const message of messages) {
      // Another page may have found it noted and taken it up.
      if ((await strict.outbox.get(message.cid)) !== undefined) continue;
      await strict.outbox.add({ state: "queued", attempts: 0, ...message, order: ++order, createdAt });
      const head =
        (await strict.conversations.get(message.conversation)) ?? createConversationRow(message.conversation, me);
      setListPosition(head, createdAt);
      await strict.conversations.put(head);
      if (head.gone) late.set(message.cid, head.id);
    }
    await write(createdAt);
    for (const id of new Set(late.values())) await failUnsentMessages(strict, id, ({ cid }) => late.has(cid));
  });

export const toTextBody = (text: string): Body => parseMessageBody({ type: "text", text: cleanText(text) });

/** Texts that could not be kept here, with the id they go under: the same text tried again is the same message. */
const unstoredMessageIds = new Map<string, Uuid>();

const toUnstoredKey = (conversation: ConversationId, body: Body): string => `${conversation} ${JSON.stringify(body)}`;

/** A phone without room for it: straight to the server, or back to whoever typed it. */
const sendUnstoredText = async (tab: Tab, conversation: ConversationId, body: Body, cid: Uuid): Promise<void> => {
  const key = toUnstoredKey(conversation, body);
  unstoredMessageIds.set(key, cid);
  await requestByHttp(tab.platform, { type: "send", conversation, messages: [{ cid, body }] });
  unstoredMessageIds.delete(key);
};

/** Waits until a message of a store that does not outlive the page is with the server; false after a while. */
const waitForAcknowledgement = async (context: SyncContext, cid: Uuid): Promise<boolean> => {
  const { platform, store } = context;
  const deadline = platform.now() + memoryAckTimeoutMs;
  while (platform.now() < deadline) {
    const row = await store.outbox.get(cid);
    if (row?.state !== "queued") return true;
    await new Promise<void>((resolve) => platform.startTimer(100, resolve));
  }
  return false;
};

/** A text, in the place of what was typed there. */
const insertTextMessage = (context: SyncContext, cid: Uuid, conversation: ConversationId, body: Body): Promise<void> =>
  insertUnsentMessages(context, [{ cid, conversation, body }], () =>
    context.strict.meta.delete(toTextDraftKey(conversation)),
  );

/** `noted` is called at once when from here on the text outlives the page, whatever becomes of it. */
export const enqueueText = async (
  tab: Tab,
  conversation: ConversationId,
  text: string,
  noted = () => {},
): Promise<void> => {
  const context = getContext(tab);
  const body = toTextBody(text);
  const key = toUnstoredKey(conversation, body);
  const cid = unstoredMessageIds.get(key) ?? createUuid(tab.platform.now());
  if (journalSentText(context, { cid, conversation, text })) noted();
  try {
    await retryOnQuotaError(context, () => insertTextMessage(context, cid, conversation, body));
    unstoredMessageIds.delete(key); // the same words again are another message
  } catch (error) {
    try {
      if (!isQuotaError(error)) throw new SyncError("unavailable" satisfies ErrorCode);
      return await sendUnstoredText(tab, conversation, body, cid);
    } finally {
      clearSentText(context, cid);
    }
  }
  tab.typing.resetThrottle(conversation);
  tab.notifyOutboxChanged();
  // A store that does not outlive the page keeps its author waiting until the server has it, for a while.
  if (tab.storageIssue.get() === "memory") await waitForAcknowledgement(context, cid);
};

/** A message of one's own in the log, as far as that is here. */
export const findOwnMessage = async ({ store }: SyncContext, conversation: ConversationId, cid: Uuid) => {
  const newest = store.messages
    .where("[conversation+seq]")
    .between([conversation, 0], [conversation, Infinity])
    .reverse();
  return (await newest.limit(recentMessageCount).toArray()).find((message) => message.cid === cid);
};

/** What was typed after it stays typed. */
const insertJournaledText = (
  context: SyncContext,
  cid: Uuid,
  conversation: ConversationId,
  text: string,
): Promise<void> =>
  insertUnsentMessages(context, [{ cid, conversation, body: toTextBody(text) }], async () => {
    const isOfIt = text.startsWith(await readTextDraft(context.strict, conversation));
    if (isOfIt) await context.strict.meta.delete(toTextDraftKey(conversation));
  });

/**
 * Texts that the store does not have: of pages that were gone before it did, or of a store that was lost. Under their own
 * ids, those that the server has after all are no second ones.
 */
export const recoverJournaledTexts = async (tab: Tab): Promise<void> => {
  const context = tab.context.get();
  if (!context) return;
  const waiting = new Set(await context.strict.outbox.toCollection().primaryKeys());
  for (const { cid, conversation, text } of listSentTexts(context)) {
    if (waiting.has(cid)) continue;
    try {
      const isHere = await findOwnMessage(context, conversation, cid);
      if (isHere) clearSentText(context, cid);
      else await retryOnQuotaError(context, () => insertJournaledText(context, cid, conversation, text));
    } catch (error) {
      if (isQuotaError(error)) return; // it stays noted until there is room
      throw error;
    }
    tab.notifyOutboxChanged();
  }
};

/** Takes up what was noted whenever a store is opened, also one made anew under the running page. */
export const startJournalRecovery = (tab: Tab): (() => void) => {
  const takeUp = () => {
    const context = tab.context.get();
    if (context) runInBackground(context, recoverJournaledTexts(tab));
  };
  takeUp();
  return tab.context.subscribe(takeUp);
};

/** Sends a failed message again, under its own id; its file goes on where it had come to. */
export const retryFailedMessage = async (tab: Tab, cid: Uuid): Promise<void> => {
  const { strict, platform } = getContext(tab);
  const { skew } = await readSyncCursor(strict);
  const now = platform.now() + skew;
  await strict.transaction("rw", [strict.outbox, strict.uploads, strict.conversations], async () => {
    const before = await strict.outbox.get(cid);
    const gone = new Set(await strict.conversations.filter((row) => row.gone).primaryKeys());
    if (before && gone.has(before.conversation)) throw new SyncError("conversation_not_found");
    const file = before && findAttachment(before.body)?.file;
    const upload = file === undefined ? undefined : await strict.uploads.get(file);
    if (upload) await strict.uploads.update(upload.file, { state: "waiting", createdAt: now });
    const again = upload ? strict.queryUnsentByFile(upload.file) : strict.outbox.where("cid").equals(cid);
    await again.modify((row) => {
      if (row.state !== "failed" || gone.has(row.conversation)) return;
      row.state = upload ? "awaiting" : "queued";
      row.attempts = 0;
      row.createdAt = now;
      delete row.error;
      delete row.paused;
    });
  });
  tab.notifyOutboxChanged();
};

/**
 * Forgets an unsent message. One that was under way may still arrive: the server is told. False when it was not unsent
 * any more.
 */
export const discardUnsentMessage = async (tab: Tab, cid: Uuid): Promise<boolean> => {
  const context = getContext(tab);
  const { strict } = context;
  const wasUnsent = await strict.transaction("rw", [...strict.sendingTables, strict.recordings], async () => {
    const row = await strict.outbox.get(cid);
    if (!row) return false;
    const { conversation } = row;
    if (row.state !== "awaiting") await insertPendingDeletion(strict, { cid, conversation });
    await removeUnsentMessage(strict, row);
    return true;
  });
  clearSentText(context, cid);
  tab.notifyOutboxChanged();
  return wasUnsent;
};

/** Lets a file on its way wait, or go on; the uploader does what the store says. */
export const setUploadPaused = async (tab: Tab, cid: Uuid, isPaused: boolean): Promise<void> => {
  const { strict } = getContext(tab);
  await strict.transaction("rw", [strict.outbox, strict.uploads], async () => {
    const message = await strict.outbox.get(cid);
    const file = message && findAttachment(message.body)?.file;
    const upload = file === undefined ? undefined : await strict.uploads.get(file);
    if (!upload) return;
    const isGoing = upload.state === "waiting" || upload.state === "uploading";
    if (isPaused ? !isGoing : upload.state !== "paused") return;
    await strict.uploads.update(upload.file, { state: isPaused ? "paused" : "waiting" });
    await strict.queryUnsentByFile(upload.file).modify((row) => {
      if (isPaused) row.paused = true;
      else delete row.paused;
    });
  });
  tab.notifyOutboxChanged();
};
