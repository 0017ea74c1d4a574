import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import type { CallResult } from "#contract/calls/call.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { relayCredentialSeconds } from "#contract/limits/calls.ts";
import type { Person } from "#tests/support/people/people.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { readLog, waitUntil } from "#tests/worker/support/device.ts";
import { befriend, makePair, type Pair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, drainBucket } from "#tests/worker/support/site.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

type Dialled = CallResult & { call_id: string; ice_servers: unknown[] };
type Open = { calls: CallResult["call"][]; now: number };

const ask = (person: Person, method: string, path: string, body?: unknown) =>
  call(method, path, { token: person.token, ...(body === undefined ? {} : { body }) });
const dial = async ({ ana, ben }: Pair, more: object = {}): Promise<Dialled> => {
  const { status, body } = await ask(ana, "POST", "/api/calls", { callee_id: ben.id, type: "audio", ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Dialled;
};
const listOf = async (person: Person) => ((await ask(person, "GET", "/api/calls")).body as Open).calls;
const rungFor = (person: Person, id: string) =>
  waitUntil(async () => (await listOf(person)).some(({ call_id }) => call_id === id));
const codeOf = async (answer: ReturnType<typeof ask>): Promise<[number, unknown]> => {
  const { status, body } = await answer;
  return [status, (body as { error_code?: string }).error_code];
};

test("an API client that knows only people's ids can call, be answered and end, with the fields of SPEC.md", async () => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  const { call_id, call: rung, over, ice_servers } = await dial(pair, { type: "video" });
  expect(rung).toMatchObject({ call_id, conversation: id, type: "video", from: ana.id, to: ben.id, answered_at: null });
  expect([over, ice_servers, rung.to_device]).toEqual([null, [], null]);
  await rungFor(ben, call_id);
  const at = (action: string) => `/api/calls/${call_id}/${action}`;
  const answered = await ask(ben, "POST", at("answer"), { to_user_id: ana.id });
  const { call: talked } = answered.body as CallResult;
  expect(talked.answered_at).toBeGreaterThanOrEqual(rung.created_at);
  // A repeated request without a device id gives the same answer.
  expect((await ask(ben, "POST", at("answer"), { to_user_id: ana.id })).body).toMatchObject({ call: talked });
  await waitUntil(async () => (await listOf(ana)).some(({ answered_at }) => answered_at !== null));
  const passed = { status: 200, body: { passed: true } };
  expect(await ask(ana, "POST", at("signal"), { to_user_id: ben.id, signal: "{}" })).toMatchObject(passed);
  expect(await ask(ben, "POST", at("signal"), { to_user_id: ana.id, signal: "{}" })).toMatchObject(passed);
  expect(await ask(ben, "POST", at("beat"), { to_user_id: ana.id })).toMatchObject(passed);
  const ended = await ask(ana, "POST", at("end"), { to_user_id: ben.id, status: "ended" });
  expect(ended).toMatchObject({ status: 200, body: { call: talked, over: { type: "call", status: "ended" } } });
  expect((await readLog(ben, id)).map(({ body }) => body)).toMatchObject([{ type: "call", kind: "video" }]);
});

test("the duration of a call lasts until its side hung up, not until the server was reached", async () => {
  const pair = await makePair();
  advanceClock(0);
  const { call_id } = await dial(pair);
  await rungFor(pair.ben, call_id);
  const at = (action: string) => `/api/calls/${call_id}/${action}`;
  expect((await ask(pair.ben, "POST", at("answer"), { to_user_id: pair.ana.id })).status).toBe(200);
  advanceClock(22_000);
  const end = (ago: unknown) => ask(pair.ana, "POST", at("end"), { to_user_id: pair.ben.id, status: "ended", ago });
  for (const wrong of [-1, 0.5, "9000"]) expect(await codeOf(end(wrong))).toEqual([400, "invalid_input"]);
  expect(await end(9_000)).toMatchObject({ status: 200, body: { over: { status: "ended", seconds: 13 } } });
});

test("a call with a client-chosen id is dialled once, whichever way the callee is named", async () => {
  const pair = await makePair();
  const [call_id, device] = [createUuid(), createUuid()];
  const first = await dial(pair, { call_id, device });
  const again = await ask(pair.ana, "POST", "/api/calls", { conversation: pair.id, type: "audio", call_id, device });
  expect(again.body).toMatchObject({ call: first.call, call_id, over: null });
  expect(first.call).toMatchObject({ call_id, from_device: device });
  expect(await listOf(pair.ana)).toEqual([first.call]);
});

test("dialling a person who is calling answers that call", async () => {
  const pair = await makePair();
  const { call_id } = await dial(pair);
  const { body } = await ask(pair.ben, "POST", "/api/calls", { callee_id: pair.ana.id, type: "audio" });
  expect(body).toMatchObject({ call_id, call: { from: pair.ana.id }, over: null });
  expect((body as Dialled).call.answered_at).not.toBeNull();
});

test("both sides read the state of a call, by its id alone while it is open and with its conversation afterwards", async () => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  const { call_id, call: rung } = await dial(pair);
  const path = `/api/calls/${call_id}`;
  await rungFor(ben, call_id);
  for (const person of [ana, ben]) {
    for (const query of ["", `?conversation=${id}`, `?to_user_id=${person === ana ? ben.id : ana.id}`]) {
      const { status, body } = await ask(person, "GET", path + query);
      expect([status, body]).toMatchObject([200, { call: rung, over: null }]);
      expect(Math.abs((body as CallResult).now - Date.now())).toBeLessThan(60_000);
    }
  }
  await ask(ben, "POST", `${path}/end`, { conversation: id, status: "rejected" });
  await waitUntil(async () => (await listOf(ana)).length === 0);
  expect(await codeOf(ask(ana, "GET", path))).toEqual([404, "call_not_found"]);
  for (const person of [ana, ben]) {
    const { body } = await ask(person, "GET", `${path}?conversation=${id}`);
    expect(body).toMatchObject({ call: rung, over: { status: "rejected", seconds: 0 } });
  }
  await dial(pair);
  expect(await codeOf(ask(ana, "GET", `${path}?conversation=${id}`))).toEqual([404, "call_not_found"]);
});

test("a person who blocks finds nothing of the other's call, while the other sees it ringing", async () => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  await getConversationStub(env, id).setBlocked(ben.id, true);
  const { call_id } = await dial(pair);
  const path = `/api/calls/${call_id}`;
  expect(await ask(ana, "GET", `${path}?conversation=${id}`)).toMatchObject({ status: 200, body: { over: null } });
  expect((await ask(ana, "GET", `${path}/ice`)).status).toBe(200);
  for (const query of ["", `?conversation=${id}`, "/ice"]) {
    expect(await codeOf(ask(ben, "GET", path + query))).toEqual([404, "call_not_found"]);
  }
  expect(await listOf(ben)).toEqual([]);
  for (const [action, more] of [
    ["answer", {}],
    ["end", { status: "rejected" }],
    ["beat", {}],
    ["signal", { signal: "{}" }],
  ] as const) {
    const sendCommand = ask(ben, "POST", `${path}/${action}`, { conversation: id, ...more });
    expect([action, ...(await codeOf(sendCommand))]).toEqual([action, 404, "call_not_found"]);
  }
  expect(await ask(ana, "GET", path)).toMatchObject({ status: 200, body: { over: null } });
});

test("each reason why a person cannot be called has an error code", async () => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  const [third, stranger] = [await seedPerson(), await seedPerson()];
  await befriend(ana, third);
  const dialling = (from: Person, to: Person) =>
    codeOf(ask(from, "POST", "/api/calls", { callee_id: to.id, type: "audio" }));
  expect(await dialling(ana, stranger)).toEqual([404, "conversation_not_found"]);
  expect(await dialling(ana, ana)).toEqual([404, "conversation_not_found"]);
  expect((await dialling(ana, ben))[0]).toBe(200);
  expect(await dialling(ana, third)).toEqual([409, "call_in_progress"]);
  expect(await dialling(ana, ben)).toEqual([409, "call_in_progress"]);
  const [open] = await listOf(ana);
  await ask(ana, "POST", `/api/calls/${open?.call_id}/end`, { conversation: id, status: "missed" });
  await getConversationStub(env, id).setBlocked(ana.id, true);
  expect(await dialling(ana, ben)).toEqual([403, "contact_blocked"]);
  await getConversationStub(env, id).setBlocked(ana.id, false);
  expect((await call("DELETE", `/api/contacts/${ben.id}`, { token: ana.token })).status).toBe(200);
  await waitUntil(async () => (await dialling(ana, ben))[1] === "not_connected");
});

test("of two devices that answer by HTTP the second gets an error, and cannot end the call", async () => {
  const pair = await makePair();
  const { ben, id } = pair;
  const { call_id } = await dial(pair);
  const as = (action: string, device: string, more: object = {}) =>
    ask(ben, "POST", `/api/calls/${call_id}/${action}`, { conversation: id, device, ...more });
  const [phone, computer] = [createUuid(), createUuid()];
  expect((await as("answer", phone)).status).toBe(200);
  expect(await codeOf(as("answer", computer))).toEqual([409, "answered_elsewhere"]);
  expect(await codeOf(as("end", computer, { status: "rejected" }))).toEqual([409, "answered_elsewhere"]);
  // A request without a device id ends the call of the person's only device.
  const ended = await ask(ben, "POST", `/api/calls/${call_id}/end`, { conversation: id, status: "ended" });
  expect(ended).toMatchObject({ status: 200, body: { over: { status: "ended" }, call: { to_device: phone } } });
});

const uuid = createUuid();
/** "@" stands for the conversation, "#" for the other person. */
const malformed: [string, string, unknown?][] = [
  ["POST /api/calls", "nobody to call", { type: "audio" }],
  ["POST /api/calls", "two ways of naming somebody", { type: "audio", conversation: "@", callee_id: "#" }],
  ["POST /api/calls", "no kind", { callee_id: "#" }],
  ["POST /api/calls", "a kind there is not", { callee_id: "#", type: "hologram" }],
  ["POST /api/calls", "an id that is none", { callee_id: "#", type: "audio", call_id: "1" }],
  ["POST /api/calls", "a device that is none", { callee_id: "#", type: "audio", device: "phone" }],
  ["POST /api/calls", "a field too many", { callee_id: "#", type: "audio", caller_id: "#" }],
  ["POST /api/calls", "to_user_id, which is of the other routes", { to_user_id: "#", type: "audio" }],
  ["POST /api/calls", "a list", []],
  ["POST /api/calls/x/answer", "no call", { conversation: "@" }],
  [`POST /api/calls/${uuid}/answer`, "nobody's", {}],
  [`POST /api/calls/${uuid}/answer`, "two ways of naming somebody", { conversation: "@", to_user_id: "#" }],
  [`POST /api/calls/${uuid}/end`, "no status", { conversation: "@" }],
  [`POST /api/calls/${uuid}/end`, "a status there is not", { conversation: "@", status: "busy" }],
  [`POST /api/calls/${uuid}/end`, "a reason there is not", { conversation: "@", status: "missed", reason: "rude" }],
  [`POST /api/calls/${uuid}/signal`, "nothing to say", { conversation: "@" }],
  [`POST /api/calls/${uuid}/signal`, "an object", { conversation: "@", signal: { type: "offer" } }],
  [`POST /api/calls/${uuid}/signal`, "too much", { conversation: "@", signal: "x".repeat(16 * 1024 + 1) }],
  [`POST /api/calls/${uuid}/beat`, "nobody's", {}],
  ["GET /api/calls/x", "no call"],
  [`GET /api/calls/${uuid}?conversation=x`, "no conversation"],
  [`GET /api/calls/${uuid}?conversation=@&to_user_id=#`, "two ways of naming somebody"],
  ["GET /api/calls/x/ice", "no call"],
];

test("a malformed request is refused and calls nobody", async () => {
  const { ana, ben, id } = await makePair();
  const fill = (text: string) => text.replaceAll("@", id).replaceAll("#", ben.id);
  for (const [route, what, body] of malformed) {
    const [method = "", path = ""] = fill(route).split(" ");
    const filled = body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body)));
    const answer = await codeOf(ask(ana, method, path, filled));
    expect({ route, what, answer }).toEqual({ route, what, answer: [400, "invalid_input"] });
  }
  expect([await listOf(ana), await listOf(ben), await readLog(ana, id)]).toEqual([[], [], []]);
});

test("a stranger gets the same answer for an existing call as for none, on every route", async () => {
  const pair = await makePair();
  const stranger = await seedPerson();
  const { call_id } = await dial(pair);
  const answers = async (id: string) => {
    const conversation = privateConversationId(stranger.id, pair.ana.id);
    const asked = [
      ["GET", ""],
      ["GET", `?conversation=${pair.id}`],
      ["GET", `?conversation=${conversation}`],
      ["GET", "/ice"],
      ["POST", "/answer", { conversation: pair.id }],
      ["POST", "/end", { conversation: pair.id, status: "ended" }],
      ["POST", "/signal", { conversation: pair.id, signal: "{}" }],
      ["POST", "/beat", { conversation: pair.id }],
      ["POST", "/beat", { to_user_id: pair.ana.id }],
    ] as const;
    const bodies = [];
    for (const [method, rest, body] of asked) {
      const { status, body: responseBody } = await ask(stranger, method, `/api/calls/${id}${rest}`, body);
      bodies.push([status, responseBody]);
    }
    return bodies;
  };
  const ofTheirs = await answers(call_id);
  expect(ofTheirs.map(([status]) => status)).toEqual(ofTheirs.map(() => 404));
  expect(ofTheirs).toEqual(await answers(createUuid()));
});

test("only the two people of an open call get ICE servers, at a limited rate", async () => {
  const pair = await makePair();
  const { ana, ben, id } = pair;
  const { call_id } = await dial(pair);
  await rungFor(ben, call_id);
  const path = `/api/calls/${call_id}/ice`;
  const nothing = { ice_servers: [], ttl: relayCredentialSeconds, relays: false, hide: false };
  for (const person of [ana, ben]) expect(await ask(person, "GET", path)).toMatchObject({ status: 200, body: nothing });
  // The answer to a dial contains everything.
  const again = { conversation: id, type: "audio", call_id };
  expect(await ask(ana, "POST", "/api/calls", again)).toMatchObject({ status: 200, body: nothing });
  await drainBucket("ice_by_user", ben.id);
  const limited = await ask(ben, "GET", path);
  expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([429, true]);
  await ask(ana, "POST", `/api/calls/${call_id}/end`, { conversation: id, status: "missed" });
  expect(await codeOf(ask(ana, "GET", path))).toEqual([404, "call_not_found"]);
});
