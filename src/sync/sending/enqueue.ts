import * as v from "valibot";
import { hasEnded } from "#contract/conversations.ts";
import { isErrorCode } from "#contract/errors.ts";
import { type ConversationId, createUuid, privateMembers } from "#contract/ids.ts";
import { Body, ReplyPlace, withReply } from "#contract/messages/body.ts";
import { cleanText } from "#contract/text.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { reportUnsentFailure, type SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { changeMessage, nextOrder } from "#sync/unsent/messages.ts";
import { findUploadFile, type OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import { failUpload } from "#sync/unsent/uploads.ts";
import { mayMention } from "./mentions/pending-mentions.ts";

/** Validates a message body. Throws a SyncError. */
export const parseMessageBody = (body: unknown): Body => {
  const parsed = v.safeParse(Body, body);
  if (parsed.success) return parsed.output;
  const code = parsed.issues[0].message;
  throw new SyncError(isErrorCode(code) ? code : "invalid_text");
};

export const toTextBody = (text: string): Body => parseMessageBody({ type: "text", text: cleanText(text) });

/** Message to insert into the outbox. */
export type UnsentMessage = Pick<OutboxRow, "cid" | "conversation" | "body"> &
  Partial<Pick<OutboxRow, "state" | "source" | "multicastId" | "batch">> & {
    /** Message that it answers. */
    target?: ReplyTarget | undefined;
  };

const toReplyFields = (body: Body, target: ReplyTarget | undefined): Pick<OutboxRow, "body" | "replyTo"> => {
  if (target === undefined) return { body };
  return v.is(ReplyPlace, target) ? { body: withReply(body, target) } : { body, replyTo: target };
};

/** Dependencies of an insertion. The store is missing while the cache is opened again. */
type InsertionPorts = Pick<SyncContext, "me" | "unsent" | "platform"> & { store: LocalStore | undefined };

const toOutboxRows = ({ unsent, store, platform }: InsertionPorts, messages: readonly UnsentMessage[]): OutboxRow[] => {
  const first = nextOrder(unsent);
  const at = platform.now();
  return messages.map(({ target, ...message }, index) => ({
    ...{ state: "queued", attempts: 0 },
    ...message,
    ...toReplyFields(message.body, target),
    ...(mayMention(message) ? { mayMention: true } : {}),
    ...{ order: first + index, at, createdAt: at + (store?.skew ?? 0) },
  }));
};

/**
 * Completes messages to groups with what the local store knows: the members that they mention, or that this person does
 * not belong to the group any more. Mentions that are not found here are found before the message is sent.
 */
const completeMessages = async (
  { store, me, unsent, platform }: InsertionPorts,
  rows: readonly OutboxRow[],
): Promise<void> => {
  if (!store) return;
  const toGroups = rows.filter(({ conversation }) => !privateMembers(conversation));
  if (toGroups.length === 0) return;
  const complete = ({ cid }: OutboxRow, fields: Partial<OutboxRow>) =>
    unsent.stage([changeMessage(cid, platform.now(), (row) => ({ ...row, ...fields }))]);
  const groups = await store.conversations.bulkGet(toGroups.map(({ conversation }) => conversation));
  const ended = toGroups.filter((_, index) => groups[index] && hasEnded(groups[index]));
  for (const row of ended) {
    complete(row, { state: "failed", error: "conversation_not_found" });
    const file = findUploadFile(row);
    const isStillNeeded = rows.some((other) => !ended.includes(other) && findUploadFile(other) === file);
    if (file !== undefined && !isStillNeeded) unsent.stage([failUpload(file, platform.now())]);
  }
  const naming = toGroups.filter((row) => row.mayMention && !ended.includes(row));
  const code = naming.length > 0 ? await import("./mentions/named-mentions.ts").catch(() => undefined) : undefined;
  for (const row of naming) {
    const found = await code?.resolveMentions({ store, me }, row.conversation, row.body);
    if (found) complete(row, { ...found, mayMention: undefined });
  }
};

/**
 * Inserts messages into the outbox in the given order, together with other changes of unsent data. They are in the image
 * and the journal at once. Resolves once they are complete and durable; rejects if they could not be committed: then
 * that is tried again.
 */
export const insertUnsentMessages = async (
  ports: InsertionPorts,
  messages: readonly UnsentMessage[],
  others: readonly UnsentChange[] = [],
): Promise<void> => {
  const { unsent } = ports;
  const rows = toOutboxRows(ports, messages);
  const insertions = rows.map((row): UnsentChange => ({ table: "outbox", key: row.cid, change: (now) => now ?? row }));
  unsent.stage([...insertions, ...others]);
  unsent.journalPending();
  await completeMessages(ports, rows).catch(() => undefined);
  await unsent.flush();
};

type TextOptions = {
  /** Message that the text answers. */
  target?: ReplyTarget | undefined;
  /** Changes that are committed together with the message, such as the end of its draft. */
  others?: readonly UnsentChange[];
};

/**
 * Sends a text message. It is shown at once. Resolves once it is on the disk, or once that has failed: then it is sent
 * from memory, and the person sees that the device has no room. Rejects with a SyncError if it cannot be a message. Needs
 * no cache: the browser may have deleted it just now.
 */
export const enqueueText = async (
  port: SyncPort,
  conversation: ConversationId,
  text: string,
  { target, others = [] }: TextOptions = {},
): Promise<void> => {
  const { me, platform, unsent } = port;
  const context = port.context.get();
  const message = { cid: createUuid(platform.now()), conversation, body: toTextBody(text), target };
  await insertUnsentMessages({ me, platform, unsent, store: context?.store }, [message], others).catch(
    (error: unknown) => context && reportUnsentFailure(context, error),
  );
  port.typing.resetThrottle(conversation);
  port.notifyChanged("outbox");
};
