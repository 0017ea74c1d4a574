import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, packUuid } from "#contract/ids.ts";
import {
  behindMaxMs,
  creditBytes,
  creditMessages,
  frameMaxBytes,
  socketsPerUserMax,
} from "#contract/limits/sockets.ts";
import { closeCodes, protocolVersion, toPongFrame } from "#contract/wire/server-frames.ts";
import { suspendAlarms, withTimeout } from "#tests/worker/support/clock.ts";
import { Device, readLog, request, sendTexts, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call } from "#tests/worker/support/site.ts";
import { sessionHeader } from "#worker/objects/user-channel.ts";

const channelStub = (user: string) => env.USER_CHANNEL.getByName(user);

afterEach(() => {
  vi.restoreAllMocks();
});

/** Everything stored in an inbox and a conversation. */
const stateOf = async (user: string, conversation: string): Promise<string> => {
  const dump = (_: unknown, { storage }: DurableObjectState) =>
    ["inbox", "people", "messages", "members"].flatMap((table) => {
      const exists = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", table).toArray().length > 0;
      return exists ? storage.sql.exec(`SELECT * FROM ${table}`).toArray() : [];
    });
  return JSON.stringify([
    await runInDurableObject(channelStub(user), dump),
    await runInDurableObject(env.CONVERSATION.getByName(conversation), dump),
  ]);
};

test("a visitor or a page of another origin gets no socket", async () => {
  const ana = await seedPerson();
  expect((await Device.connect({ ...ana, token: "x" })).status).toBe(401);
  const foreign = await Device.connect(ana, { origin: "https://lisolo.test.evil" });
  expect(foreign.status).toBe(403);
  expect((await call("GET", "/api/socket", { token: ana.token })).status).toBe(400);
});

test("identity claims of a client in headers or the URL are ignored", async () => {
  const { ana, ben, id } = await makePair();
  const lies = {
    "x-partykit-props": btoa(JSON.stringify({ user: ben.id })),
    "x-partykit-room": ben.id,
    [sessionHeader]: ben.session,
    "x-user-id": ben.id,
  };
  const [one, two] = [await Device.attach(ana, lies, "?_pk=same"), await Device.attach(ana, lies, "?_pk=same")];
  await Promise.all([one.hello(), two.hello()]);
  await one.waitForOutcome(one.sendText(id, "de qui ?"));
  const [message] = await readLog(ana, id);
  expect(message).toHaveProperty("cid");
  expect(two.decodeMessages(await two.nextOf("m"))).toMatchObject([{ seq: 1 }]);
});

test("frames before a hello are ignored, and so is a second hello", async () => {
  const { ana, id } = await makePair();
  const device = await Device.attach(ana);
  device.sendText(id, "trop tôt");
  expect(await device.nextOf("x")).toEqual(["x", "malformed_frame"]);
  await device.hello();
  device.send(["h", protocolVersion, "", 0]);
  expect(await device.nextOf("x")).toEqual(["x", "malformed_frame"]);
  expect(await readLog(ana, id)).toEqual([]);
});

test("a device of another protocol version is told so and disconnected for good", async () => {
  const device = await Device.attach(await seedPerson());
  device.send(["h", protocolVersion + 1, "", 0]);
  expect(await device.nextOf("x")).toEqual(["x", "unknown_protocol"]);
  expect((await device.closed).code).toBe(closeCodes.protocol);
});

test("unreadable frames are answered with a code and change nothing", async () => {
  const { ana, id } = await makePair();
  await sendTexts(ana, id, "là");
  const cid = packUuid(createUuid());
  const corpus: unknown[] = [
    "",
    "{}",
    "null",
    "[",
    "[]".repeat(10),
    "[".repeat(10_000),
    "[".repeat(10_000) + "]".repeat(10_000),
    ["nope"],
    ["__proto__", 1],
    ["constructor"],
    [1, 2, 3],
    ["s"],
    ["s", 1, id, "not an id", "x"],
    ["s", -1, id, cid, "x"],
    ["s", 1, id, cid, 5],
    ["s", 1, id, cid, { type: "text", text: "x", extra: 1 }],
    ["s", 1, id, cid, { type: "deleted" }],
    ["s", 1, id, cid, "x", "y"],
    ["r", id, 1.5, 0],
    ["r", id, "1", 0],
    ["r", id, -1, -1],
    `["r","${id}",1e309,0]`,
    ["g", 1, id, "sideways", 0, 1],
    ["k", -1],
    ["k", 1_000_000],
    ["w", 1, "", 0, 0, [], [], null],
  ];
  let device = await Device.open(ana); // deferred writes are flushed before its welcome
  const before = await stateOf(ana.id, id);
  for (const [index, frame] of corpus.entries()) {
    // A new socket before the fifth, which replaces it.
    if (index % 4 === 0) device = await Device.open(ana);
    device.sendRaw(typeof frame === "string" ? frame : JSON.stringify(frame));
    expect(await device.nextOf("x"), JSON.stringify(frame).slice(0, 80)).toEqual(["x", "malformed_frame"]);
  }
  expect(await stateOf(ana.id, id)).toBe(before);
});

test("invalid texts are refused with their code and change nothing", async () => {
  const { ana, id } = await makePair();
  const device = await Device.open(ana);
  await device.waitForOutcome(device.sendText(id, "là"));
  await request(ana, { type: "changes", since: 0 }); // flushes deferred writes
  const before = await stateOf(ana.id, id);
  const refused = async (text: string) => device.waitForOutcome(device.sendText(id, text));
  expect(await refused("  \n ")).toEqual({ error: "empty_message" });
  expect(await refused("x".repeat(8_001))).toEqual({ error: "message_too_long" });
  expect(await refused("sonne\u0007")).toEqual({ error: "invalid_text" });
  expect(await refused("coupé \ud83d")).toEqual({ error: "invalid_text" });
  expect(await device.request((ref) => ["g", ref, id, "a", 0, 100_000])).toEqual(["n", 6, "invalid_input"]);
  expect(await device.request((ref) => ["q", ref, id, "x".repeat(101), 5])).toEqual(["n", 7, "invalid_input"]);
  expect(await stateOf(ana.id, id)).toBe(before);
  expect(
    await device.waitForOutcome(device.sendText(id, "\u202eà l'envers, 👩‍👩‍👧 et\nsur deux lignes")),
  ).toMatchObject({
    seq: 2,
  });
});

test("five unreadable frames within ten seconds close the socket", async () => {
  const device = await Device.open(await seedPerson());
  for (let i = 0; i < 5; i++) device.sendRaw("nonsense");
  expect((await device.closed).code).toBe(closeCodes.rateLimited);
});

test("a too large or binary frame closes the socket, and the channel continues", async () => {
  const ana = await seedPerson();
  const [large, wide, binary] = [await Device.open(ana), await Device.open(ana), await Device.open(ana)];
  large.sendRaw("x".repeat(frameMaxBytes + 1));
  expect((await large.closed).code).toBe(closeCodes.tooLarge);
  wide.sendRaw("é".repeat(frameMaxBytes / 2 + 1));
  expect((await wide.closed).code).toBe(closeCodes.tooLarge);
  binary.sendRaw(new ArrayBuffer(8));
  expect((await binary.closed).code).toBe(closeCodes.protocol);
  await Device.open(ana);
});

test("an internal error is reported to devices by its code only", async () => {
  const { ana, id } = await makePair();
  const device = await Device.open(ana);
  await runInDurableObject(channelStub(ana.id), (_, { storage }) => void storage.sql.exec("DROP TABLE people"));
  vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await device.request((ref) => ["c", ref, 0, null])).toEqual(["n", 1, "unavailable"]);
  expect(await device.waitForOutcome(device.sendText(id, "ça va quand même"))).toMatchObject({ seq: 1 });
});

test("a failure while a socket is accepted closes it without a reason and without sending its text", async () => {
  const ana = await seedPerson();
  vi.spyOn(console, "error").mockImplementation(() => {});
  // The Worker always sets the session header. Without it the object cannot accept the socket.
  const { webSocket } = await channelStub(ana.id).fetch("https://user-channel/socket", {
    headers: { upgrade: "websocket" },
  });
  if (!webSocket) throw new Error("no socket");
  const received: unknown[] = [];
  webSocket.addEventListener("message", ({ data }) => received.push(data));
  const closed = new Promise<[number, string]>((resolve) =>
    webSocket.addEventListener("close", ({ code, reason }) => resolve([code, reason])),
  );
  webSocket.accept();
  expect(await closed).toEqual([1011, ""]);
  expect(received).toEqual([]);
});

test("a person's oldest socket is closed when there are too many", async () => {
  const ana = await seedPerson();
  const open = async () => {
    const headers = { upgrade: "websocket", [sessionHeader]: ana.session };
    const { webSocket } = await channelStub(ana.id).fetch("https://user-channel/socket", { headers });
    if (!webSocket) throw new Error("no socket");
    const closed = new Promise<number>((resolve) => webSocket.addEventListener("close", ({ code }) => resolve(code)));
    webSocket.accept();
    return { webSocket, closed };
  };
  const first = await open();
  await scheduler.wait(2);
  for (let i = 1; i < socketsPerUserMax; i++) await open();
  const isOpen = await Promise.race([first.closed, scheduler.wait(50).then(() => "open")]);
  expect(isOpen).toBe("open");
  await open();
  expect(await first.closed).toBe(closeCodes.replaced);
});

test("a session that ends closes its sockets and no others", async () => {
  const ana = await seedPerson();
  const [here, there] = [await Device.open(ana), await Device.open(ana)];
  await channelStub(ana.id).closeSessions([createUuid()]);
  here.ping();
  await here.waitForPong();
  await channelStub(ana.id).closeSessions([ana.session]);
  expect((await here.closed).code).toBe(closeCodes.signedOut);
  expect((await there.closed).code).toBe(closeCodes.signedOut);
});

test("signing out closes the session's sockets within two seconds", async () => {
  const ana = await seedPerson();
  const device = await Device.open(ana);
  expect((await call("POST", "/api/auth/logout?scope=global", { token: ana.token })).status).toBe(204);
  expect((await withTimeout(2_000, device.closed)).code).toBe(closeCodes.signedOut);
  expect((await Device.connect(ana)).status).toBe(401);
});

test("a pong contains the counter, also while the object hibernates", async () => {
  suspendAlarms(); // of the conversation, which would wake it
  const { ana, ben, id } = await makePair();
  const device = await Device.open(ben);
  expect(await device.waitForPong()).toBe(toPongFrame(device.base));
  await sendTexts(ana, id, "un");
  await device.nextLive();
  expect(await device.waitForPong()).toBe(toPongFrame(device.base + 1));
  await evictDurableObject(channelStub(ben.id));
  expect(await device.waitForPong()).toBe(toPongFrame(device.base + 1));
  // Nothing above woke it: it is not running, so there is nothing to evict.
  await expect(evictDurableObject(channelStub(ben.id))).rejects.toThrow();
});

test("a device that acknowledges nothing gets a limited number of bytes, then heads only, until it does", async () => {
  const { ana, ben, id } = await makePair();
  const slow = await Device.open(ben);
  const long = "m".repeat(4_000);
  for (let i = 0; i < 4; i++) await sendTexts(ana, id, ...Array.from({ length: 25 }, () => long));
  const pushed = () => slow.raw.filter((raw) => raw.startsWith('["m"') || !/^[[.]/.test(raw));
  await slow.nextOf("b");
  const bytes = pushed().reduce((sum, raw) => sum + raw.length, 0);
  // One frame may exceed the limit, but none after it.
  expect(bytes).toBeLessThan(creditBytes + 25 * 4_100);
  expect(slow.raw.at(-1)?.length).toBeLessThan(60);
  const messages = slow.frames.reduce(
    (sum, frame) => sum + (Array.isArray(frame) && frame[0] === "m" ? frame[3].length : 0),
    0,
  );
  slow.send(["k", messages]);
  await sendTexts(ana, id, "encore");
  expect(await slow.nextLive()).toMatchObject({ seq: 101, text: "encore" });
  // Everything it missed can be requested.
  const page = await slow.request((ref) => ["g", ref, id, "a", messages, 40]);
  expect(page[0] === "g" && slow.decodeMessages(page)[0]?.seq).toBe(messages + 1);
});

test("a device may acknowledge frames from before an eviction, and not more than were sent", async () => {
  const { ana, ben, id } = await makePair();
  const device = await Device.open(ben);
  await sendTexts(ana, id, ...Array.from({ length: 10 }, (_, i) => `${i}`));
  await waitUntil(() => device.seqs.length === 10);
  await evictDurableObject(channelStub(ben.id));
  device.send(["k", 10]);
  await sendTexts(ana, id, "encore");
  expect(await device.nextLive()).toMatchObject({ seq: 11 });
  expect(device.raw.filter((raw) => raw.startsWith('["x"'))).toEqual([]);
  device.send(["k", 1_000]);
  expect(await device.nextOf("x")).toEqual(["x", "malformed_frame"]);
});

test("short messages count too, and a device that stays behind is disconnected", async () => {
  const { ana, ben, id } = await makePair();
  const slow = await Device.open(ben);
  for (let i = 0; i < creditMessages / 50; i++)
    await sendTexts(ana, id, ...Array.from({ length: 50 }, (_, j) => `${j}`));
  await waitUntil(() => slow.seqs.length === creditMessages);
  await sendTexts(ana, id, "de trop");
  expect(await slow.nextOf("b")).toMatchObject(["b", expect.any(Number), expect.any(Number), creditMessages + 1]);
  const now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now + behindMaxMs + 5_000);
  await sendTexts(ana, id, "toujours de trop");
  expect((await slow.closed).code).toBe(closeCodes.behind);
  vi.restoreAllMocks();
  expect(toTexts(await readLog(ben, id))).toHaveLength(creditMessages + 2);
});

test("pages count for flow control too, so that requests without reading are limited", async () => {
  const { ana, ben, id } = await makePair();
  for (let i = 0; i < 8; i++) await sendTexts(ana, id, ...Array.from({ length: 40 }, () => "p".repeat(2_000)));
  const greedy = await Device.open(ben);
  const answers = [];
  for (let i = 0; i < 12; i++) answers.push(await greedy.request((ref) => ["g", ref, id, "a", 0, 40]));
  const pages = answers.filter(([type]) => type === "g");
  expect(pages.length).toBeGreaterThan(1);
  expect(JSON.stringify(pages).length).toBeLessThan(creditBytes + 100_000);
  expect(answers.at(-1)).toMatchObject(["n", expect.any(Number), "rate_limited", 1_000]);
  greedy.send(["k", pages.length * 40]);
  expect((await greedy.request((ref) => ["g", ref, id, "a", 0, 40]))[0]).toBe("g");
});

test("a welcome frame contains the current rows, and requesting changes after it returns nothing", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  const device = await Device.attach(ben);
  const welcome = await device.hello();
  expect(device.decodeRows(welcome)).toMatchObject([{ conversation: id, head: 2, unread: 2, open: true }]);
  expect(await request(ben, { type: "changes", since: welcome[3] })).toMatchObject({ rows: [], before: null });
});
