import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { BackgroundOutbox } from "#lib/browser/push/background-outbox.ts";
import { listStoreOwners } from "#sw/app-outbox.ts";
import { sendInBackground } from "#sw/background-sender.ts";
import { TemporaryFailure } from "#sw/person-request.ts";
import { LocalStore, type OutboxRow, toStoreName } from "#sync/store/database.ts";
import { createConversationRow } from "#sync/store/row-mapping.ts";
import { makeSessionResponse } from "#tests/support/people/session-response.ts";

const [me, friend, other] = [createUuid(), createUuid(), createUuid()];
const [chat, otherChat] = [privateConversationId(me, friend), privateConversationId(me, other)];

type SentRequest = { path: string; person: string | null; body: { messages?: { cid: string; body: object }[] } };
let requests: SentRequest[];
/** Answers a request, or returns undefined for success. */
let refuse: (request: SentRequest) => Response | undefined;

const refusal = (status: number, error_code: string) =>
  Response.json({ code: status, error_code, msg: "" }, { status });

const sentTexts = () =>
  requests.flatMap(({ body }) => (body.messages ?? []).map((message) => Reflect.get(message.body, "text")));

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

/** Writes rows to the app's outbox, as the app does. */
const writeAppOutbox = async (rows: Partial<OutboxRow>[], forked: string[] = []): Promise<void> => {
  const store = new LocalStore(toStoreName(me), "strict", { indexedDB, IDBKeyRange });
  await store.outbox.bulkPut(
    rows.map((row, index) => ({
      cid: createUuid(),
      conversation: chat,
      order: index + 1,
      body: { type: "text", text: `app ${index + 1}` },
      createdAt: 1,
      state: "queued",
      attempts: 0,
      ...row,
    })),
  );
  await store.conversations.bulkPut(forked.map((id) => ({ ...createConversationRow(id, me), forked: { head: 1 } })));
  store.close();
};

const writeReply = (text: string, conversation = chat) =>
  new BackgroundOutbox(me).insert([{ type: "reply", cid: createUuid(), conversation, text }]);

const listEntries = async () => (await new BackgroundOutbox(me).list()).map(({ entry }) => entry);

describe("the service worker's sending", () => {
  it("sends replies after the app's unsent messages of the conversation, and each once", async () => {
    await writeAppOutbox([{}, {}]);
    const store = new LocalStore(toStoreName(me), "strict", { indexedDB, IDBKeyRange });
    await writeReply("reply 1");
    await writeReply("reply 2");
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 1", "app 2", "reply 1", "reply 2"]);
    expect(requests.map(({ person }) => person)).toEqual([me]);
    // The app's rows stay for the app, with their places.
    expect(await store.outbox.count()).toBe(2);
    expect(await listEntries()).toMatchObject([{ type: "sent" }, { type: "sent" }]);
    store.close();
    await sendInBackground(me);
    expect(requests).toHaveLength(1);
  });

  it("deletes its database once everything is sent", async () => {
    await writeReply("reply");
    expect(await listStoreOwners()).toEqual([me]);
    await sendInBackground(me);
    expect(await indexedDB.databases()).toEqual([]);
  });

  it("keeps a reply without a network, and sends it under the same client id later", async () => {
    await writeReply("reply");
    refuse = () => {
      throw new TypeError("Failed to fetch");
    };
    await expect(sendInBackground(me)).rejects.toBeInstanceOf(TemporaryFailure);
    const [first] = requests;
    refuse = () => undefined;
    await sendInBackground(me);
    expect(requests[1]?.body).toEqual(first?.body);
    expect(await listEntries()).toEqual([]);
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
    expect(await listEntries()).toMatchObject([{ text: "reply" }]);
  });

  it("leaves a refused reply to the app", async () => {
    await writeReply("reply");
    refuse = ({ path }) => (path.endsWith("/messages") ? refusal(403, "contact_blocked") : undefined);
    expect((await sendInBackground(me)).refused).toEqual(new Set([chat]));
    expect(await listEntries()).toMatchObject([{ text: "reply" }]);
  });

  it("renews an expired session once", async () => {
    await writeReply("reply");
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
    expect(await listEntries()).toEqual([]);
  });

  it("sends nothing with the renewed session of another account", async () => {
    await writeReply("reply");
    refuse = ({ path }) =>
      path.startsWith("/api/auth/") ? Response.json(makeSessionResponse(other)) : refusal(401, "bad_jwt");
    await expect(sendInBackground(me)).rejects.toThrow();
    expect(requests).toHaveLength(2);
    expect(await listEntries()).toHaveLength(1);
  });

  it("does not overtake messages that only the app can send, in their conversation", async () => {
    const batch = createUuid();
    await writeAppOutbox(
      [
        { state: "failed" },
        { state: "awaiting", batch, conversation: otherChat },
        { batch, conversation: otherChat },
        {},
        { multicastId: createUuid() },
        {},
      ],
      [],
    );
    await writeReply("reply");
    await writeReply("other reply", otherChat);
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 4"]);
  });

  it("sends what follows a file that is still uploading", async () => {
    await writeAppOutbox([{ state: "awaiting" }, {}]);
    await sendInBackground(me);
    expect(sentTexts()).toEqual(["app 2"]);
  });

  it("sends nothing to a conversation whose log the app has to compare first", async () => {
    await writeAppOutbox([{}, { conversation: otherChat }], [chat]);
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
  });

  it("reports a read position after the messages", async () => {
    await new BackgroundOutbox(me).insert([{ type: "read", conversation: chat, head: 7 }]);
    await writeReply("reply");
    expect((await sendInBackground(me)).read).toEqual(new Map([[chat, 7]]));
    expect(requests[1]).toMatchObject({ path: `/api/conversations/${chat}/marks`, body: { delivered: 7, read: 7 } });
    expect(await listEntries()).toEqual([]);
  });

  it("of two senders at once sends a reply once", async () => {
    await writeReply("reply");
    await Promise.all([sendInBackground(me), sendInBackground(me)]);
    expect(sentTexts()).toEqual(["reply"]);
  });
});
