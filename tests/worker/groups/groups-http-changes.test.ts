import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { bodyMaxBytes } from "#contract/limits/sockets.ts";
import { readLog, readRow, waitUntil } from "#tests/worker/support/device.ts";
import { makeFriends, makeSyncedGroup, readMemberPage, requestAs } from "#tests/worker/support/make-group.ts";
import { makePng } from "#tests/worker/support/pictures.ts";
import { befriend } from "#tests/worker/support/seeded-people.ts";
import { call, drainBucket, site } from "#tests/worker/support/site.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";

const refusal = (status: number, error_code: string) => ({ status, body: { code: status, error_code } });

/** All changes of a group, with a body that an owner may send. */
const changes = (id: Uuid, other: Uuid): [method: string, path: string, body?: unknown][] => [
  ["PATCH", `/api/groups/${id}`, { name: "Nous" }],
  ["DELETE", `/api/groups/${id}/picture`],
  ["POST", `/api/groups/${id}/members`, { members: [other] }],
  ["PUT", `/api/groups/${id}/owner`, { user_id: other }],
  ["DELETE", `/api/groups/${id}/members/${other}`],
  ["DELETE", `/api/groups/${id}`],
];

test("a group is renamed by its owner, once for repeated requests", async () => {
  const { id, owner, others } = await makeSyncedGroup(3, "Famille");
  const [ben] = others;
  if (!ben) throw new Error("too few");
  const path = `/api/groups/${id}`;
  for (const name of ["  Cousins  ", "Cousins"]) {
    expect(await requestAs(owner, "PATCH", path, { name })).toMatchObject({ name: "Cousins", roster: 2 });
  }
  await waitUntil(async () => (await readRow(ben, id)).group?.name === "Cousins");
  expect((await readLog(ben, id)).slice(1)).toMatchObject([{ sender: 0, body: { event: "renamed", name: "Cousins" } }]);
  const hostile = '"><svg onload=alert(1)>';
  expect(await requestAs(owner, "PATCH", path, { name: hostile })).toMatchObject({ name: hostile });
  for (const name of ["", " ", "x".repeat(101), "a\u202eb", "\u200d"]) {
    expect(await requestAs(owner, "PATCH", path, { name })).toBe("invalid_group_name");
  }
  for (const body of [
    {},
    [],
    null,
    { name: 7 },
    { name: "Nous", picture: "x" },
    { name: "Nous", created_by: ben.id },
  ]) {
    expect(await requestAs(owner, "PATCH", path, body)).toBe("invalid_input");
  }
  expect(await requestAs(owner, "GET", path)).toMatchObject({ name: hostile, roster: 3 });
});

test("either all people are added or none, and present members are unchanged", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  const [dan, eve, stranger] = await makeFriends(3);
  const nobody = createUuid();
  if (!ben || !cleo || !eve || !stranger) throw new Error("too few");
  await befriend(owner, dan);
  await befriend(owner, eve);
  const path = `/api/groups/${id}/members`;
  const add = (members: unknown) => requestAs(owner, "POST", path, { members });
  expect(await add([dan.id, nobody])).toBe("user_not_found");
  expect(await add([])).toBe("group_without_members");
  expect(await add(["x"])).toBe("invalid_input");
  expect(await requestAs(owner, "GET", `/api/groups/${id}`)).toMatchObject({ count: 3, roster: 1 });
  expect(await add([dan.id, ben.id, dan.id, owner.id, eve.id])).toMatchObject({ count: 5, roster: 2 });
  expect(await add([eve.id, dan.id])).toMatchObject({ count: 5, roster: 2 });
  expect(await add([owner.id])).toMatchObject({ count: 5, roster: 2 });
  expect((await readLog(owner, id)).slice(1)).toMatchObject([{ body: { event: "added", who: [3, 4] } }]);
  const headOf = () =>
    readRow(dan, id).then(
      ({ head }) => head,
      () => 0, // not notified yet
    );
  await waitUntil(async () => (await headOf()) === 2);
  expect(await readRow(dan, id)).toMatchObject({ unread: 0, group: { count: 5, number: 3, role: "member" } });
  expect(await requestAs(owner, "DELETE", `${path}/${dan.id}`)).toBe(null);
  expect(await requestAs(owner, "DELETE", `${path}/${dan.id}`)).toBe(null);
  expect(await requestAs(owner, "DELETE", `${path}/${stranger.id}`)).toBe("member_not_found");
  expect(await requestAs(owner, "DELETE", `${path}/nobody`)).toBe("invalid_input");
  expect(await requestAs(owner, "DELETE", `${path}/${owner.id}?heir=x`)).toBe("invalid_input");
  expect(await requestAs(owner, "DELETE", `${path}/${owner.id}?heir=${owner.id}`)).toBe("member_not_found");
  expect((await readMemberPage(owner, id)).members.map(({ number }) => number)).toEqual([0, 1, 2, 4]);
});

test("ownership is transferred to a member with all its rights, and a repeated transfer changes nothing", async () => {
  const { id, owner, others } = await makeSyncedGroup(3);
  const [ben, cleo] = others;
  const [stranger] = await makeFriends(1);
  if (!ben || !cleo) throw new Error("too few");
  const path = `/api/groups/${id}/owner`;
  expect(await requestAs(owner, "PUT", path, { user_id: stranger.id })).toBe("member_not_found");
  expect(await requestAs(owner, "PUT", path, { user_id: "x" })).toBe("invalid_input");
  expect(await requestAs(owner, "PUT", path, { user_id: owner.id })).toMatchObject({ role: "owner", roster: 1 });
  expect(await requestAs(ben, "PUT", path, { user_id: ben.id })).toBe("not_allowed");
  for (let i = 0; i < 2; i++) {
    expect(await requestAs(owner, "PUT", path, { user_id: ben.id })).toMatchObject({ role: "member", roster: 2 });
  }
  expect(await requestAs(owner, "PUT", path, { user_id: cleo.id })).toBe("not_allowed");
  for (const [method, of, body] of changes(id, cleo.id).slice(0, 3)) {
    expect(await requestAs(owner, method, of, body)).toBe("not_allowed");
  }
  expect(await requestAs(ben, "DELETE", `/api/groups/${id}/members/${owner.id}`)).toBe(null);
  expect(await requestAs(owner, "GET", `/api/groups/${id}`)).toBe("group_not_found");
  expect((await readLog(cleo, id)).slice(1)).toMatchObject([
    { sender: 0, body: { event: "owner", who: [1] } },
    { sender: 1, body: { event: "removed", who: [0] } },
  ]);
});

test("a page of another origin changes no group with its owner's cookie", async () => {
  const { id, owner, others, group } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  const making = ["POST", "/api/groups", { id: createUuid(), name: "Volé", members: [ben.id] }] as const;
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.test" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
  ];
  const picturing = ["PUT", `/api/groups/${id}/picture`] as const;
  for (const [method, path, body] of [making, picturing, ...changes(id, ben.id)]) {
    for (const from of foreign) {
      const headers = { cookie: `__Host-lisolo-at=${owner.token}`, "content-type": "application/json", ...from };
      const sent = method === "PUT" && !body ? makePng(20, 20) : JSON.stringify(body);
      const response = await site.fetch(site.origin + path, { method, headers, ...(sent ? { body: sent } : {}) });
      expect([method, path, response.status]).toEqual([method, path, 403]);
      expect(await response.json()).toMatchObject({ error_code: "forbidden_origin" });
    }
  }
  expect(await requestAs(owner, "GET", `/api/groups/${id}`)).toEqual(group);
});

test.each([
  ["GET", "/api/groups", "POST"],
  ["POST", "/api/groups/:id", "GET, PATCH, DELETE"],
  ["PUT", "/api/groups/:id", "GET, PATCH, DELETE"],
  ["GET", "/api/groups/:id/picture", "PUT, DELETE"],
  ["DELETE", "/api/groups/:id/members", "GET, POST"],
  ["GET", "/api/groups/:id/members/:id", "DELETE"],
  ["GET", "/api/groups/:id/owner", "PUT"],
  ["DELETE", "/api/conversations/:id/messages/1/receipts", "GET"],
])("%s %s is not an allowed method", async (method, path, allowed) => {
  const [person] = await makeFriends(1);
  const answer = await call(method, path.replaceAll(":id", createUuid()), { token: person.token });
  expect(answer).toMatchObject(refusal(405, "method_not_allowed"));
  expect(answer.headers.get("allow")).toBe(allowed);
});

test("a body that is too long or not JSON changes nothing, and an invalid id is reported", async () => {
  const { id, owner, group } = await makeSyncedGroup(2);
  const path = `/api/groups/${id}`;
  const long = { name: "x".repeat(bodyMaxBytes) };
  expect(await call("PATCH", path, { token: owner.token, body: long })).toMatchObject(refusal(413, "too_large"));
  const typed = { token: owner.token, body: { name: "Nous" }, headers: { "content-type": "text/plain" } };
  expect(await call("PATCH", path, typed)).toMatchObject(refusal(415, "unsupported_media"));
  for (const bad of ["x", `${id}.${createUuid()}`, id.toUpperCase(), "..%2f..%2fprofile", "%00"]) {
    const answer = await call("GET", `/api/groups/${bad}`, { token: owner.token });
    expect([bad, answer.status]).toEqual([bad, 400]);
  }
  expect(await requestAs(owner, "GET", path)).toEqual(group);
});

test("too many changes of any kind are refused with the time to wait", async () => {
  const { id, owner, others, group } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  await drainBucket("group_change_by_user", owner.id);
  for (const [method, path, body] of changes(id, ben.id)) {
    const answer = await call(method, path, { token: owner.token, body });
    expect(answer).toMatchObject(refusal(429, "rate_limited"));
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(await requestAs(owner, "GET", `/api/groups/${id}`)).toEqual(group);
});

test("while a group is unreachable its routes answer unavailable, without the cause", async () => {
  const { id, owner, others, group } = await makeSyncedGroup(2);
  const [ben] = others;
  if (!ben) throw new Error("too few");
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const broken = () => Promise.reject(new Error("SELECT secret FROM members"));
  const methods = { runGroupCommand: broken, getGroup: broken, listMembers: broken, listReceipts: broken };
  const CONVERSATION = overrideMethods(env.CONVERSATION, methods);
  const reading: [string, string][] = [
    ["GET", `/api/groups/${id}`],
    ["GET", `/api/groups/${id}/members`],
    ["GET", `/api/conversations/${id}/messages/1/receipts`],
  ];
  for (const [method, path, body] of [...reading, ...changes(id, ben.id)]) {
    const answer = await callWith({ CONVERSATION }, method, path, { token: owner.token, body });
    expect(answer).toMatchObject({ status: 503, body: { error_code: "unavailable", msg: "unavailable" } });
  }
  log.mockRestore();
  expect(await requestAs(owner, "GET", `/api/groups/${id}`)).toEqual(group);
});
