import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import logTables from "#migrations/conversation/0001_log.sql?raw";
import inboxTables from "#migrations/user-channel/0001_inbox.sql?raw";
import { Device, post, readLog, request, rowOf, textsOf, until } from "#tests/worker/support/device.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/** Objects as a version before this one left them. */
const leave = (storage: DurableObjectStorage, tables: string, ...rows: [string, ...(string | number | null)[]][]) => {
  storage.deleteAll();
  storage.sql.exec(tables);
  storage.sql.exec("CREATE TABLE schema_version (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)");
  storage.sql.exec("INSERT INTO schema_version VALUES (1, 1)");
  for (const [statement, ...values] of rows) storage.sql.exec(statement, ...values);
};

test("conversations and inboxes stored before messages could be changed go on as they are", async () => {
  const [ana, ben] = await Promise.all([seedPerson(), seedPerson()]);
  const id = privateConversationId(ana.id, ben.id);
  const members = [ana, ben].sort((a, b) => (a.id < b.id ? -1 : 1));
  const isFirst = members[0] === ana;
  const { blocked: _, ...known }: Relation = {
    profile: { id: ben.id, username: "Bénédicte", phone: ben.phone, avatar_url: null, created_at: 1 },
    state: "contact",
    request_id: null,
    connection_id: createUuid(),
    since: 2,
    blocked: false,
  };
  const text = "INSERT INTO messages VALUES (?, ?, ?, ?, 'text', ?)";
  await runInDurableObject(env.CONVERSATION.getByName(id), (_, { storage }) =>
    leave(
      storage,
      logTables,
      ["INSERT INTO conversation VALUES (?, 'e1', 1, ?, 1)", id, known.connection_id],
      ["INSERT INTO members VALUES (0, ?, 0, 0, 0)", members[0]?.id ?? ""],
      ["INSERT INTO members VALUES (1, ?, 0, 0, 0)", members[1]?.id ?? ""],
      [text, 1, isFirst ? 0 : 1, createUuid(), 10, "de moi"],
      [text, 2, isFirst ? 1 : 0, createUuid(), 11, "de toi"],
    ),
  );
  const channel = env.USER_CHANNEL.getByName(ana.id);
  await runInDurableObject(channel, (_, { storage }) =>
    leave(
      storage,
      inboxTables,
      [
        `INSERT INTO inbox VALUES (1, ?, 5, 0, 'e1', 2, 11, ?, '{"type":"text","text":"de toi"}', 1, 1, 2, 0, 0, 0, 0, 0, 1, 1)`,
        id,
        isFirst ? 1 : 0,
      ],
      ["INSERT INTO people VALUES (1, ?, 6, 0, ?)", ben.id, JSON.stringify(known)],
    ),
  );
  for (const stub of [env.CONVERSATION.getByName(id), channel]) await evictDurableObject(stub);
  const device = await Device.attach(ana);
  const welcome = await device.hello();
  expect(device.rowsOf(welcome)).toMatchObject([
    { conversation: id, head: 2, unread: 1, muted: false, kept: false, revision: 0, open: true },
  ]);
  expect(device.peopleOf(welcome)).toEqual([{ ...known, blocked: false }]);
  expect(textsOf(await readLog(ana, id))).toEqual(["de moi", "de toi"]);
  expect(await request(ana, { type: "retract", conversation: id, seq: 1 })).toEqual({ revision: 1 });
  await until(async () => (await rowOf(ana, id)).revision === 1);
  await getConversationStub(env, id).setBlocked(id, ana.id, true);
  expect(await post(ana, id, "x")).toEqual({ error: "contact_blocked" });
  await getConversationStub(env, id).setBlocked(id, ana.id, false);
  expect((await post(ana, id, "encore")).sent).toMatchObject([{ seq: 3 }]);
});
