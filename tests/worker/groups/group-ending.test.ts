import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { readPath } from "#contract/files.ts";
import { createUuid } from "#contract/ids.ts";
import { Device, readRow, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { readMembers } from "#tests/worker/support/group-oracle.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { countFileReferences, makeImageBody, seedFile } from "#tests/worker/support/seeded-files.ts";
import { call } from "#tests/worker/support/site.ts";
import * as releases from "#worker/objects/conversation/delivery/file-release-queue.ts";
import * as purging from "#worker/objects/conversation/delivery/purge.ts";

const ring = (id: string) => runDurableObjectAlarm(env.CONVERSATION.getByName(id));
const inside = <T>(id: string, look: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) => look(storage.sql));
const countOf = (id: string, table: "messages" | "attachments" | "releases") =>
  inside(id, (sql) => sql.exec<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).one().n);

afterEach(() => {
  vi.restoreAllMocks();
});

/** Inserts messages without sending them, so that a group has a long history at once. */
const age = (id: string, count: number) =>
  inside(id, (sql) =>
    sql.exec(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO messages (seq, sender, cid, at, kind, body)
       SELECT (SELECT max(seq) FROM messages) + i, 1, printf('00000000-0000-7000-8000-%012x', i), 1, 'text', 'ligne' FROM n`,
      count,
    ),
  );

test("messages of an ended group are deleted in steps, with the files that nothing else references", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  if (!ben || !cleo) throw new Error("too few");
  const [early, late] = [await seedFile(ben.id), await seedFile(cleo.id)];
  const send = (from: typeof ben, file: string) =>
    request(from, { type: "send", conversation: id, messages: [{ cid: createUuid(), body: makeImageBody(file) }] });
  await send(ben, early.id);
  await age(id, 700);
  // The object continues from its tables.
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, state) =>
    state.abort("as if the machine had died"),
  ).catch(() => undefined);
  await send(cleo, late.id);
  await waitUntil(async () => (await readRow(ben, id)).head === 703);
  const phone = await Device.open(ben);

  const stuck = vi.spyOn(releases, "releaseDeletedFiles").mockImplementation(() => Promise.reject(new Error("away")));
  vi.spyOn(console, "error").mockImplementation(() => {});
  const pieces: number[] = [];
  const { purgeMessages: purge } = purging;
  vi.spyOn(purging, "purgeMessages").mockImplementation((log) => {
    const count = () => log.sql.exec<{ n: number }>("SELECT count(*) AS n FROM messages").one().n;
    const before = count();
    purge(log);
    if (log.id === id) pieces.push(before - count()); // alarms of other conversations run too
  });
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}`)).toBe(null);
  await phone.nextOf("i");
  await waitUntil(async () => {
    await ring(id);
    return (await countOf(id, "messages")) === 0;
  });
  // Each alarm processes a bounded number, and no file is forgotten although releasing files failed meanwhile.
  expect(pieces).toEqual([300, 300, 103]);
  expect([await countOf(id, "attachments"), await countOf(id, "releases")]).toEqual([0, 2]);
  for (const { id: file } of [early, late]) expect(await countFileReferences(file)).toBe(1);
  stuck.mockRestore();
  await waitUntil(async () => {
    await ring(id);
    return (await countOf(id, "releases")) === 0;
  });
  for (const { id: file, key } of [early, late]) {
    expect(await countFileReferences(file)).toBeUndefined();
    expect(await env.FILES.head(key)).toBeNull();
  }

  for (const one of [owner, ben, cleo]) {
    await waitUntil(async () => (await readRow(one, id)).gone);
    expect(await readRow(one, id)).toMatchObject({ open: false, preview: null, unread: 0 });
    expect(await sendTexts(one, id, "encore")).toEqual({ error: "conversation_not_found" });
    expect(await requestAs(one, "GET", `/api/groups/${id}`)).toBe("group_not_found");
    expect((await call("GET", readPath(id, early.id), { token: one.token })).status).toBe(404);
  }
  await waitUntil(async () => {
    await ring(id);
    return (await readMembers(id)).every(({ state }) => state === "out");
  });
  expect(await ring(id)).toBe(false);
});

test("a file sent to a group that ended meanwhile is not kept", async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  const file = await seedFile(ben.id);
  const messages = [{ cid: createUuid(), body: makeImageBody(file.id) }];
  await requestAs(owner, "DELETE", `/api/groups/${id}`);
  expect(await request(ben, { type: "send", conversation: id, messages })).toEqual({ error: "conversation_not_found" });
  await waitUntil(async () => (await countFileReferences(file.id)) === 0);
});

test("an owner who is the last member ends the group by leaving it, and deletes it with the conversation", async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  const out = (one: typeof ben) => requestAs(one, "DELETE", `/api/groups/${id}/members/${one.id}`);
  expect(await out(ben)).toBe(null);
  expect(await requestAs(owner, "GET", `/api/groups/${id}`)).toMatchObject({ count: 1, role: "owner" });
  expect(await out(owner)).toBe(null);
  expect(await out(owner)).toBe(null);
  expect(await requestAs(owner, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  expect(await sendTexts(owner, id, "encore")).toEqual({ error: "conversation_not_found" });
  await ring(id);
  expect(await countOf(id, "messages")).toBe(3);
  for (const one of [ben, owner]) {
    expect(await countOf(id, "messages")).toBe(3);
    await waitUntil(async () => !(await readRow(one, id)).open);
    await request(one, { type: "clearHistory", conversation: id, upTo: 3, keep: false });
    await waitUntil(async () => (await readRow(one, id)).gone);
  }
  await waitUntil(async () => {
    await ring(id);
    return (await countOf(id, "messages")) === 0;
  });
});
