import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { sendBatchMax } from "#contract/limits/messages.ts";
import { toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import { sendInBackground } from "#sw/background-sender.ts";
import { TemporaryFailure } from "#sw/person-request.ts";
import {
  deleteRead,
  insertUnsent,
  listUnsentOwners,
  noteSent,
  readUnsent,
  withdrawUnsent,
} from "#sw/unsent-messages.ts";
import { LocalStore, toStoreName } from "#sync/store/database.ts";
import { createConversationRow } from "#sync/store/row-mapping.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import { eventually } from "#tests/support/eventually.ts";
import { makeSessionResponse } from "#tests/support/people/session-response.ts";

const [me, friend, other] = [createUuid(), createUuid(), createUuid()];
const [chat, otherChat] = [privateConversationId(me, friend), privateConversationId(me, other)];

type SentRequest = { path: string; person: string | null; body: { messages?: { cid: string; body: object }[] } };
let requests: SentRequest[];
/** Answers a request, or returns undefined for success. */
let refuse: (request: SentRequest) => Response | undefined;

const refusal = (status: number, error_code: string) =>
  Response.json({ code: status, error_code, msg: "" }, { status });
const refuseMarks: typeof refuse = ({ path }) => (path.endsWith("/marks") ? refusal(503, "unavailable") : undefined);

const sentTexts = () =>
  requests.flatMap(({ body }) => (body.messages ?? []).map((message) => Reflect.get(message.body, "text")));
const sentIds = () => requests.flatMap(({ body }) => (body.messages ?? []).map(({ cid }) => cid));

beforeEach(() => {
  requests = [];
  refuse = () => undefined;
  vi.stubGlobal("indexedDB", new IDBFactory());
  vi.stubGlobal("fetch", async (path: string, { headers, body }: RequestInit) => {
    const request = { path, person: new Headers(headers).get("x-person"), body: JSON.parse(String(body)) };
    requests.push(request);
    const refused = refuse(request);
    if (refused) return refused;
    if (path.startsWith("/api/auth/token")) return Response.json(makeSessionResponse(me));
    if (path.endsWith("/marks")) return Response.json({ unread: 0, head: 1 });
    const sent = request.body.messages.map(({ cid }: { cid: string }, index: number) => ({
      cid,
      seq: index + 1,
      at: 1,
    }));
    return Response.json({ epoch: "e", sent });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** Writes rows to the outbox, as the app does. */
const writeOutbox = async (...rows: Partial<OutboxRow>[]): Promise<void> => {
  const database = new UnsentDatabase(me, { indexedDB, openChannel: () => undefined });
  await database.write(["outbox"], async (access) => {
    for (const [index, row] of rows.entries()) {
      const text = { type: "text", text: `app ${index + 1}` };
      const message = { cid: createUuid(), conversation: chat, order: index + 1, body: text, createdAt: 1, at: 1 };
      await toPromise(access("outbox").put({ ...message, state: "queued", attempts: 0, ...row }));
    }
  });
  database.close();
};

/** The app compares the log of a conversation with a restored server. */
const holdConversation = async (id: typeof chat): Promise<void> => {
  const store = new LocalStore(toStoreName(me), { indexedDB, IDBKeyRange });
  await store.conversations.put({ ...createConversationRow(id, me), unconfirmed: {} });
  store.close();
};

/** Stores a reply as the worker does; its notification tells of one message. */
const writeReply = async (text: string, conversation = chat) => {
  const cid = createUuid();
  await insertUnsent(me, { conversation, head: 1 }, [{ cid, text }]);
  return cid;
};

/** Stored messages with what is noted in them: the text, or the place where the server has it. */
const listStored = async () => (await readUnsent(me)).messages.map(({ body, sent }) => sent ?? body["text"]);

describe("the service worker's sending", () => {
  it("sends replies after the app's unsent messages of the conversation, and each once", async () => {
    await writeOutbox({}, {});
    await writeReply("reply 1");
    await writeReply("reply 2");
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 1", "app 2", "reply 1", "reply 2"]);
    expect(new Set(requests.map(({ person }) => person))).toEqual(new Set([me]));
    await sendInBackground(me);
    expect(sentTexts()).toHaveLength(4);
  });

  it("leaves what it has sent to the app, with its place in the log", async () => {
    const cid = createUuid();
    await writeOutbox({ cid, order: 7 });
    await sendInBackground(me);
    const { messages, reads } = await readUnsent(me);
    expect(messages).toMatchObject([{ cid, order: 7, body: { text: "app 1" }, sent: { epoch: "e", seq: 1, at: 1 } }]);
    expect(reads).toEqual([]);
  });

  it("does not bring back a message that the app has sent and deleted meanwhile", async () => {
    await noteSent(me, new Map([[createUuid(), { epoch: "e", seq: 1, at: 1 }]]));
    expect(await listStored()).toEqual([]);
  });

  it("creates no database for somebody who has nothing unsent on this device", async () => {
    await sendInBackground(me);
    expect(await listUnsentOwners()).toEqual([]);
    await writeReply("reply");
    expect(await listUnsentOwners()).toEqual([me]);
  });

  it("keeps a reply without a network, and sends it under the same client id later", async () => {
    const cid = await writeReply("reply");
    refuse = () => {
      throw new TypeError("Failed to fetch");
    };
    await expect(sendInBackground(me)).rejects.toBeInstanceOf(TemporaryFailure);
    expect(await listStored()).toEqual(["reply"]);
    refuse = () => undefined;
    await sendInBackground(me);
    expect(sentIds()).toEqual([cid, cid]);
    expect(await listStored()).toEqual([{ epoch: "e", seq: 1, at: 1 }]);
  });

  it.each([
    [503, "unavailable"],
    [429, "rate_limited"],
    [401, "session_not_found"],
  ])("keeps a reply that the server answers with %i", async (status, code) => {
    await writeReply("reply");
    refuse = () => refusal(status, code);
    await expect(sendInBackground(me)).rejects.toBeInstanceOf(TemporaryFailure);
    expect(requests).toHaveLength(1); // no renewal
    expect(await listStored()).toEqual(["reply"]);
  });

  it("leaves a refused reply to the app, and sends those of other conversations", async () => {
    await writeReply("reply");
    await writeReply("other reply", otherChat);
    refuse = ({ path }) => (path.endsWith(`${chat}/messages`) ? refusal(403, "contact_blocked") : undefined);
    expect((await sendInBackground(me)).refused).toEqual(new Set([chat]));
    expect(await listStored()).toEqual(expect.arrayContaining(["reply", { epoch: "e", seq: 1, at: 1 }]));
  });

  it("sends many messages in requests of the size that the server takes", async () => {
    await writeOutbox(...Array.from({ length: sendBatchMax + 1 }, () => ({})));
    await sendInBackground(me);
    expect(requests.map(({ body }) => body.messages?.length)).toEqual([sendBatchMax, 1]);
    expect(sentTexts()).toEqual(Array.from({ length: sendBatchMax + 1 }, (_, index) => `app ${index + 1}`));
  });

  it("renews an expired session once", async () => {
    await writeOutbox({});
    let isExpired = true;
    refuse = ({ path }) => {
      if (path.startsWith("/api/auth/")) isExpired = false;
      return isExpired ? refusal(401, "bad_jwt") : undefined;
    };
    await sendInBackground(me);
    expect(requests.map(({ path }) => path.split("/").at(-1))).toEqual([
      "messages",
      "token?grant_type=refresh_token",
      "messages",
    ]);
    expect(await listStored()).toEqual([{ epoch: "e", seq: 1, at: 1 }]);
  });

  it("sends nothing with the renewed session of another account", async () => {
    await writeReply("reply");
    refuse = ({ path }) =>
      path.startsWith("/api/auth/") ? Response.json(makeSessionResponse(other)) : refusal(401, "bad_jwt");
    await expect(sendInBackground(me)).rejects.toThrow();
    expect(requests).toHaveLength(2);
    expect(await listStored()).toEqual(["reply"]);
  });

  it("does not overtake messages that only the app can send, in their conversation", async () => {
    const batch = createUuid();
    await writeOutbox(
      { state: "failed" },
      { state: "awaiting", batch, conversation: otherChat },
      { batch, conversation: otherChat },
      {},
      { multicastId: createUuid() },
      {},
    );
    await writeReply("reply");
    await writeReply("other reply", otherChat);
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 4"]);
  });

  it.each([
    ["answers a message that was unsent", { replyTo: createUuid() }],
    ["may name members of a group", { mayMention: true }],
  ] as const)("leaves to the app what %s, with the later messages", async (_, field) => {
    await writeOutbox({}, field, {});
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 1"]);
  });

  it("sends what follows a file that is still uploading", async () => {
    await writeOutbox({ state: "awaiting" }, {});
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 2"]);
  });

  it("sends what follows a message that it has sent, with the origin of a forwarded one", async () => {
    const source = { conversation: otherChat, seq: 3 };
    await writeOutbox({ sent: { epoch: "e", seq: 1, at: 1 } }, { source });
    await sendInBackground(me);
    expect(requests.map(({ body }) => body.messages)).toMatchObject([[{ body: { text: "app 2" }, source }]]);
  });

  it("sends nothing to a conversation whose log the app has to compare first", async () => {
    await writeOutbox({}, { conversation: otherChat });
    await holdConversation(chat);
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 2"]);
  });

  it("sends nothing while the app rebuilds its database", async () => {
    await writeReply("reply");
    const opening = indexedDB.open(`${toStoreName(me)}-backup`);
    await new Promise((resolve) => {
      opening.onsuccess = resolve;
    });
    opening.result.close();
    await expect(sendInBackground(me)).rejects.toBeInstanceOf(TemporaryFailure);
    expect(requests).toEqual([]);
  });

  it("sends of one conversation only, if asked", async () => {
    await writeReply("reply");
    await writeReply("other reply", otherChat);
    await sendInBackground(me, otherChat);
    expect(sentTexts()).toEqual(["other reply"]);
    expect(requests.filter(({ path }) => path.includes(chat))).toEqual([]);
    expect((await readUnsent(me)).reads.map(({ conversation }) => conversation)).toEqual([chat]);
  });

  it("reports a read position after the messages, and once", async () => {
    await insertUnsent(me, { conversation: chat, head: 7 }, [{ cid: createUuid(), text: "reply" }]);
    expect((await sendInBackground(me)).read).toEqual(new Map([[chat, 7]]));
    expect(requests[1]).toMatchObject({ path: `/api/conversations/${chat}/marks`, body: { delivered: 7, read: 7 } });
    await sendInBackground(me);
    expect(requests).toHaveLength(2);
  });

  it("reports a read position later that the server could not take, and does not send the reply again", async () => {
    await writeReply("reply");
    refuse = refuseMarks;
    await expect(sendInBackground(me)).rejects.toBeInstanceOf(TemporaryFailure);
    refuse = () => undefined;
    expect((await sendInBackground(me)).read).toEqual(new Map([[chat, 1]]));
    expect(sentTexts()).toEqual(["reply"]);
  });

  it("of two senders at once sends a reply once", async () => {
    await writeReply("reply");
    await Promise.all([sendInBackground(me), sendInBackground(me)]);
    expect(sentTexts()).toEqual(["reply"]);
  });
});

describe("what the service worker stores", () => {
  it("is the last read position of a conversation, also while an earlier one is being reported", async () => {
    const listHeads = async () => (await readUnsent(me)).reads.map(({ head }) => head);
    for (const head of [7, 5]) await insertUnsent(me, { conversation: chat, head }, []);
    expect(await listHeads()).toEqual([7]);
    await deleteRead(me, { conversation: chat, head: 5 });
    expect(await listHeads()).toEqual([7]);
    await deleteRead(me, { conversation: chat, head: 7 });
    expect(await listHeads()).toEqual([]);
  });

  it("is deleted for somebody who signed out meanwhile, and so is a database with nothing else", async () => {
    const read = { conversation: chat, head: 1 };
    const replies = [{ cid: createUuid(), text: "reply" }];
    await writeOutbox({});
    await insertUnsent(me, read, replies);
    await withdrawUnsent(me, read, replies);
    expect(await readUnsent(me)).toMatchObject({ messages: [{ body: { text: "app 1" } }], reads: [] });
    vi.stubGlobal("indexedDB", new IDBFactory());
    await insertUnsent(me, read, replies);
    await withdrawUnsent(me, read, replies);
    expect(await indexedDB.databases()).toEqual([]);
  });

  it("is announced to the app", async () => {
    const onChange = vi.fn();
    const database = new UnsentDatabase(
      me,
      { indexedDB, openChannel: (name) => new BroadcastChannel(name) },
      { onChange },
    );
    await writeReply("reply");
    await eventually(() => expect(onChange).toHaveBeenCalledWith(["outbox", "reads"]));
    await sendInBackground(me);
    await eventually(() => expect(onChange.mock.calls.slice(1)).toEqual([[["outbox"]], [["reads"]]]));
    database.close();
  });
});
