import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { Call } from "#contract/calls/call.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

const post = (by: Person, path: string, body: object) => call("POST", path, { token: by.token, body });
const judge = (by: Person, id: string, body: object) =>
  call("PUT", `/api/calls/${id}/feedback`, { token: by.token, body });

/** Makes a call from Ana that Ben answered. `isOver`: Ana hung up. */
const makeCall = async (isOver: boolean, call_id = createUuid()) => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  const [device, other] = [createUuid(), createUuid()];
  const dialled = await post(ana, "/api/calls", { call_id, conversation, type: "video", device });
  expect(dialled).toMatchObject({ status: 200 });
  const id = (dialled.body as { call: Call }).call.call_id;
  expect(await post(ben, `/api/calls/${id}/answer`, { conversation, device: other })).toMatchObject({ status: 200 });
  if (isOver) {
    const end = { conversation, device, status: "ended" };
    expect(await post(ana, `/api/calls/${id}/end`, end)).toMatchObject({ status: 200 });
  }
  return { ana, ben, id, conversation };
};

const kept = async (id: string) => {
  const rows = await env.DB.prepare("SELECT * FROM call_feedback WHERE call_id = ? ORDER BY side").bind(id).all();
  return rows.results;
};

test("each side rates a call, its last rating counts, and the stored rating names nobody", async () => {
  const { ana, ben, id, conversation } = await makeCall(true);
  expect((await judge(ana, id, { conversation, good: true })).status).toBe(204);
  expect((await judge(ana, id, { conversation, good: false, reason: "picture" })).status).toBe(204);
  expect((await judge(ben, id, { to_user_id: ana.id, good: true })).status).toBe(204);
  const rows = await kept(id);
  expect(rows).toMatchObject([
    { side: "callee", good: 1, reason: null, kind: "video" },
    { side: "caller", good: 0, reason: "picture", kind: "video" },
  ]);
  const text = JSON.stringify(rows);
  expect([ana, ben].flatMap((person) => [person.id, person.phone]).filter((word) => text.includes(word))).toEqual([]);
});

test("two calls with the same id in two conversations are rated separately", async () => {
  const one = await makeCall(true);
  const other = await makeCall(true, one.id);
  expect((await judge(one.ana, one.id, { conversation: one.conversation, good: false })).status).toBe(204);
  expect((await judge(other.ana, one.id, { conversation: other.conversation, good: true })).status).toBe(204);
  const rows = await kept(one.id);
  expect(rows.map(({ side, good }) => [side, good])).toEqual(
    expect.arrayContaining([
      ["caller", 0],
      ["caller", 1],
    ]),
  );
  expect(rows).toHaveLength(2);
});

test("an active call, an unknown one and other people's calls cannot be rated", async () => {
  const { ana, id, conversation } = await makeCall(false);
  expect(await judge(ana, id, { conversation, good: true })).toMatchObject({
    status: 409,
    body: { error_code: "call_in_progress" },
  });
  expect((await judge(ana, createUuid(), { conversation, good: true })).status).toBe(404);
  expect((await judge(await makePerson(), id, { conversation, good: true })).status).toBe(404);
  expect((await judge(ana, id, { conversation, good: false, reason: "their voice" })).status).toBe(400);
  expect(await kept(id)).toEqual([]);
});
