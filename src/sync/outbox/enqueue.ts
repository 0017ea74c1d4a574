import * as v from "valibot";
import { attachmentOf, Body } from "#contract/conversations.ts";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { cleanText } from "#contract/text.ts";
import { askByHttp } from "#sync/connection/http-transport.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { readDraft } from "#sync/queries/queries.ts";
import { type Context, inBackground, withRoom } from "#sync/store/context.ts";
import { draftKey, type OutboxRow } from "#sync/store/database.ts";
import { jotSent, listSent, strikeSent } from "#sync/store/journal.ts";
import { noteWithdrawn } from "#sync/store/pending-deletion-rows.ts";
import { blankRow, placeInList } from "#sync/store/row-mapping.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { readCursor } from "#sync/store/sync-cursor.ts";
import { failUnsent, removeUnsent } from "#sync/store/unsent-rows.ts";
import type { Tab } from "#sync/tabs/tab.ts";

const memoryAckMs = 15_000;
/** A text that is noted was sent a moment before its page was gone: if it is in the log, it is among so many. */
const recentMessages = 200;

export const getContext = (tab: Tab): Context => {
  const context = tab.context.get();
  if (!context) throw new SyncError("unavailable");
  return context;
};

/** A body as it may be sent; throws a SyncError. */
export const parseBody = (body: unknown): Body => {
  const parsed = v.safeParse(Body, body);
  if (parsed.success) return parsed.output;
  const code = parsed.issues[0].message;
  throw new SyncError(isErrorCode(code) ? code : "invalid_text");
};

/** A message to be kept until it is sent. */
export type Unsent = Pick<OutboxRow, "cid" | "conversation" | "body"> &
  Partial<Pick<OutboxRow, "state" | "source" | "spread" | "batch">>;

/** Puts messages into the outbox, in their order, in one transaction with what else is to be written with them. */
export const insertUnsent = (
  { strict, me, platform }: Context,
  messages: readonly Unsent[],
  write: (createdAt: number) => Promise<unknown> = async () => {},
): Promise<void> =>
  // Without the bytes of files: while a big one is written here, a text must not wait.
  strict.transaction("rw", [strict.outbox, strict.conversations, strict.meta, strict.uploads], async () => {
    const last = await strict.outbox.orderBy("order").last();
    const { skew } = await readCursor(strict);
    const createdAt = platform.now() + skew;
    let order = last?.order ?? 0;
    const late = new Map<Uuid, ConversationId>();
    for (const message of messages) {
      // Another page may have found it noted and taken it up.
      if ((await strict.outbox.get(message.cid)) !== undefined) continue;
      await strict.outbox.add({ state: "queued", attempts: 0, ...message, order: ++order, createdAt });
      const head = (await strict.conversations.get(message.conversation)) ?? blankRow(message.conversation, me);
      placeInList(head, createdAt);
      await strict.conversations.put(head);
      if (head.gone) late.set(message.cid, head.id);
    }
    await write(createdAt);
    for (const id of new Set(late.values())) await failUnsent(strict, id, ({ cid }) => late.has(cid));
  });

export const parseText = (text: string): Body => parseBody({ type: "text", text: cleanText(text) });

/** Texts that could not be kept here, with the id they go under: the same text tried again is the same message. */
const homeless = new Map<string, Uuid>();

const homelessKey = (conversation: ConversationId, body: Body): string => `${conversation} ${JSON.stringify(body)}`;

/** A phone without room for it: straight to the server, or back to whoever typed it. */
const sendUnkept = async (tab: Tab, conversation: ConversationId, body: Body, cid: Uuid): Promise<void> => {
  const key = homelessKey(conversation, body);
  homeless.set(key, cid);
  await askByHttp(tab.platform, { type: "send", conversation, messages: [{ cid, body }] });
  homeless.delete(key);
};

/** Waits until a message of a store that does not outlive the page is with the server; false after a while. */
const acknowledged = async (context: Context, cid: Uuid): Promise<boolean> => {
  const { platform, store } = context;
  const deadline = platform.now() + memoryAckMs;
  while (platform.now() < deadline) {
    const row = await store.outbox.get(cid);
    if (row?.state !== "queued") return true;
    await new Promise<void>((resolve) => platform.after(100, resolve));
  }
  return false;
};

/** A text, in the place of what was typed there. */
const insertText = (context: Context, cid: Uuid, conversation: ConversationId, body: Body): Promise<void> =>
  insertUnsent(context, [{ cid, conversation, body }], () => context.strict.meta.delete(draftKey(conversation)));

/** `noted` is called at once when from here on the text outlives the page, whatever becomes of it. */
export const writeText = async (
  tab: Tab,
  conversation: ConversationId,
  text: string,
  noted = () => {},
): Promise<void> => {
  const context = getContext(tab);
  const body = parseText(text);
  const key = homelessKey(conversation, body);
  const cid = homeless.get(key) ?? createUuid(tab.platform.now());
  if (jotSent(context, { cid, conversation, text })) noted();
  try {
    await withRoom(context, () => insertText(context, cid, conversation, body));
    homeless.delete(key); // the same words again are another message
  } catch (error) {
    try {
      if (!isQuotaError(error)) throw new SyncError("unavailable" satisfies ErrorCode);
      return await sendUnkept(tab, conversation, body, cid);
    } finally {
      strikeSent(context, cid);
    }
  }
  tab.typing.forget(conversation);
  tab.written();
  // A store that does not outlive the page keeps its author waiting until the server has it, for a while.
  if (tab.trouble.get() === "memory") await acknowledged(context, cid);
};

/** A message of one's own in the log, as far as that is here. */
export const findDelivered = async ({ store }: Context, conversation: ConversationId, cid: Uuid) => {
  const newest = store.messages
    .where("[conversation+seq]")
    .between([conversation, 0], [conversation, Infinity])
    .reverse();
  return (await newest.limit(recentMessages).toArray()).find((message) => message.cid === cid);
};

/** What was typed after it stays typed. */
const insertNoted = (context: Context, cid: Uuid, conversation: ConversationId, text: string): Promise<void> =>
  insertUnsent(context, [{ cid, conversation, body: parseText(text) }], async () => {
    const isOfIt = text.startsWith(await readDraft(context.strict, conversation));
    if (isOfIt) await context.strict.meta.delete(draftKey(conversation));
  });

/**
 * Texts that the store does not have: of pages that were gone before it did, or of a store that was lost. Under their own
 * ids, those that the server has after all are no second ones.
 */
export const takeUpSent = async (tab: Tab): Promise<void> => {
  const context = tab.context.get();
  if (!context) return;
  const waiting = new Set(await context.strict.outbox.toCollection().primaryKeys());
  for (const { cid, conversation, text } of listSent(context)) {
    if (waiting.has(cid)) continue;
    try {
      const isHere = await findDelivered(context, conversation, cid);
      if (isHere) strikeSent(context, cid);
      else await withRoom(context, () => insertNoted(context, cid, conversation, text));
    } catch (error) {
      if (isQuotaError(error)) return; // it stays noted until there is room
      throw error;
    }
    tab.written();
  }
};

/** Takes up what was noted whenever a store is opened, also one made anew under the running page. */
export const keepTakingUp = (tab: Tab): (() => void) => {
  const takeUp = () => {
    const context = tab.context.get();
    if (context) inBackground(context, takeUpSent(tab));
  };
  takeUp();
  return tab.context.subscribe(takeUp);
};

/** Sends a failed message again, under its own id; its file goes on where it had come to. */
export const retry = async (tab: Tab, cid: Uuid): Promise<void> => {
  const { strict, platform } = getContext(tab);
  const { skew } = await readCursor(strict);
  const now = platform.now() + skew;
  await strict.transaction("rw", [strict.outbox, strict.uploads, strict.conversations], async () => {
    const before = await strict.outbox.get(cid);
    const gone = new Set(await strict.conversations.filter((row) => row.gone).primaryKeys());
    if (before && gone.has(before.conversation)) throw new SyncError("conversation_not_found");
    const file = before && attachmentOf(before.body)?.file;
    const upload = file === undefined ? undefined : await strict.uploads.get(file);
    if (upload) await strict.uploads.update(upload.file, { state: "waiting", createdAt: now });
    const again = upload ? strict.naming(upload.file) : strict.outbox.where("cid").equals(cid);
    await again.modify((row) => {
      if (row.state !== "failed" || gone.has(row.conversation)) return;
      row.state = upload ? "awaiting" : "queued";
      row.attempts = 0;
      row.createdAt = now;
      delete row.error;
      delete row.paused;
    });
  });
  tab.written();
};

/**
 * Forgets an unsent message. One that was under way may still arrive: the server is told. False when it was not unsent
 * any more.
 */
export const discard = async (tab: Tab, cid: Uuid): Promise<boolean> => {
  const context = getContext(tab);
  const { strict } = context;
  const wasUnsent = await strict.transaction("rw", [...strict.sending, strict.recordings], async () => {
    const row = await strict.outbox.get(cid);
    if (!row) return false;
    const { conversation } = row;
    if (row.state !== "awaiting") await noteWithdrawn(strict, { cid, conversation });
    await removeUnsent(strict, row);
    return true;
  });
  strikeSent(context, cid);
  tab.written();
  return wasUnsent;
};

/** Lets a file on its way wait, or go on; the uploader does what the store says. */
export const setPaused = async (tab: Tab, cid: Uuid, isPaused: boolean): Promise<void> => {
  const { strict } = getContext(tab);
  await strict.transaction("rw", [strict.outbox, strict.uploads], async () => {
    const message = await strict.outbox.get(cid);
    const file = message && attachmentOf(message.body)?.file;
    const upload = file === undefined ? undefined : await strict.uploads.get(file);
    if (!upload) return;
    const isGoing = upload.state === "waiting" || upload.state === "uploading";
    if (isPaused ? !isGoing : upload.state !== "paused") return;
    await strict.uploads.update(upload.file, { state: isPaused ? "paused" : "waiting" });
    await strict.naming(upload.file).modify((row) => {
      if (isPaused) row.paused = true;
      else delete row.paused;
    });
  });
  tab.written();
};
