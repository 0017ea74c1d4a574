import * as v from "valibot";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { storeNamePrefix } from "#lib/browser/push/background-sync.ts";
import {
  deleteUnsentDatabase,
  type TableAccess,
  toPromise,
  toUnsentName,
  UnsentDatabase,
} from "#lib/unsent/unsent-database.ts";

/** Unsent data of the people on this device, as the service worker reads and writes it while the app is closed. */

/** Row of the table `outbox` (`src/sync/unsent/outbox-row.ts`) as far as the worker reads it. The server validates bodies. */
export const PendingMessage = v.looseObject({
  cid: Uuid,
  conversation: ConversationId,
  order: v.number(),
  body: v.looseObject({ type: v.string() }),
  state: v.picklist(["queued", "awaiting", "failed"]),
  source: v.optional(v.unknown()),
  replyTo: v.optional(Uuid),
  mayMention: v.optional(v.boolean()),
  multicastId: v.optional(Uuid),
  batch: v.optional(Uuid),
  sent: v.optional(v.unknown()),
});
export type PendingMessage = v.InferOutput<typeof PendingMessage>;

const UnsentRead = v.looseObject({ conversation: ConversationId, head: v.number() });
export type UnsentRead = v.InferOutput<typeof UnsentRead>;

/** Place in the log of a message that was sent. */
export type SentPlace = { epoch: string; seq: number; at: number };

const listNames = async (): Promise<Set<string | undefined>> =>
  new Set((await indexedDB.databases()).map(({ name }) => name));

const withUnsent = async <T>(user: Uuid, run: (database: UnsentDatabase) => Promise<T>): Promise<T> => {
  const database = new UnsentDatabase(user, { indexedDB, openChannel: (name) => new BroadcastChannel(name) });
  try {
    return await run(database);
  } finally {
    database.close();
  }
};

const parseRows = <S extends v.GenericSchema>(rows: unknown[], schema: S): v.InferOutput<S>[] =>
  rows.flatMap((row) => {
    const parsed = v.safeParse(schema, row);
    return parsed.success ? [parsed.output] : [];
  });

const readRows = async (access: TableAccess) => {
  const [messages, reads] = await Promise.all([
    toPromise<unknown[]>(access("outbox").getAll()),
    toPromise<unknown[]>(access("reads").getAll()),
  ]);
  return { messages: parseRows(messages, PendingMessage), reads: parseRows(reads, UnsentRead) };
};

/** Messages and reads that the server does not have. Unreadable ones of another version are left to the app. */
export const readUnsent = async (user: Uuid): Promise<{ messages: PendingMessage[]; reads: UnsentRead[] }> => {
  if (!(await listNames()).has(toUnsentName(user))) return { messages: [], reads: [] };
  return withUnsent(user, (database) => database.read(["outbox", "reads"], readRows));
};

/** Stores replies in the order of writing, and that a conversation was read. Resolves once they are on the disk. */
export const insertUnsent = (
  user: Uuid,
  { conversation, head }: UnsentRead,
  replies: readonly { cid: Uuid; text: string }[],
): Promise<void> =>
  withUnsent(user, (database) =>
    database.write(["outbox", "reads"], async (access) => {
      const { messages, reads } = await readRows(access);
      const at = Date.now();
      const last = messages.reduce((order, row) => Math.max(order, row.order), 0);
      const read = Math.max(head, ...reads.flatMap((row) => (row.conversation === conversation ? row.head : [])));
      await toPromise(access("reads").put({ conversation, head: read, at }));
      for (const [index, { cid, text }] of replies.entries()) {
        const message = { cid, conversation, body: { type: "text", text }, order: last + 1 + index };
        await toPromise(access("outbox").put({ ...message, state: "queued", attempts: 0, createdAt: at, at }));
      }
    }),
  );

/** Deletes replies and the read that were stored for somebody who signed out meanwhile. */
export const withdrawUnsent = async (
  user: Uuid,
  { conversation }: UnsentRead,
  replies: readonly { cid: Uuid }[],
): Promise<void> => {
  const isEmpty = await withUnsent(user, (database) =>
    database.write(["drafts", "outbox", "reads"], async (access) => {
      for (const { cid } of replies) await toPromise(access("outbox").delete(cid));
      await toPromise(access("reads").delete(conversation));
      const tables = [access("drafts"), access("outbox"), access("reads")];
      const counts = await Promise.all(tables.map((table) => toPromise(table.count())));
      return counts.every((count) => count === 0);
    }),
  );
  if (isEmpty) await deleteUnsentDatabase(user, indexedDB); // also if the sign-out had deleted it before
};

/** Notes in messages where the server stored them, so that the app shows them there and nobody sends them again. */
export const noteSent = (user: Uuid, places: ReadonlyMap<Uuid, SentPlace>): Promise<void> =>
  withUnsent(user, (database) =>
    database.write(["outbox"], async (access) => {
      for (const [cid, sent] of places) {
        const row: { at?: number } | undefined = await toPromise(access("outbox").get(cid));
        if (!row) continue; // the app has sent it too
        // Later than what the app has in its journal, also after the clock was set back.
        await toPromise(access("outbox").put({ ...row, sent, at: Math.max(Date.now(), (row.at ?? 0) + 1) }));
      }
    }),
  );

/** Deletes a read that the server was told of, unless a later one was stored. */
export const deleteRead = (user: Uuid, { conversation, head }: UnsentRead): Promise<void> =>
  withUnsent(user, (database) =>
    database.write(["reads"], async (access) => {
      const row = v.safeParse(UnsentRead, await toPromise(access("reads").get(conversation)));
      if (row.success && row.output.head <= head) await toPromise(access("reads").delete(conversation));
    }),
  );

const HeldConversation = v.object({ id: ConversationId, unconfirmed: v.object({}) });

/**
 * Conversations of which nothing may be sent, because the app compares their log with a restored server before. Read from
 * the local store without Dexie. Undefined if that cannot be read now: the app rebuilds it.
 */
export const readHeldConversations = async (
  user: Uuid,
  conversations: Iterable<ConversationId>,
): Promise<Set<ConversationId> | undefined> => {
  const name = storeNamePrefix + user;
  const names = await listNames();
  if (names.has(`${name}-backup`)) return undefined;
  const held = new Set<ConversationId>();
  if (!names.has(name)) return held;
  let database: IDBDatabase | undefined;
  try {
    const opening = indexedDB.open(name);
    opening.onupgradeneeded = () => opening.transaction?.abort(); // deleted just now: only the app creates it
    database = await toPromise(opening);
    const stored = database.transaction(["conversations"]).objectStore("conversations");
    for (const id of new Set(conversations)) if (v.is(HeldConversation, await toPromise(stored.get(id)))) held.add(id);
    return held;
  } catch {
    return undefined; // of another version
  } finally {
    database?.close();
  }
};

/** People who have unsent data on this device. */
export const listUnsentOwners = async (): Promise<Uuid[]> => {
  const pattern = new RegExp(`^${storeNamePrefix}([0-9a-f-]{36})-unsent$`);
  return [...(await listNames())].flatMap((name = "") => pattern.exec(name)?.[1] ?? []);
};
