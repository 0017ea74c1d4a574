import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callSignalMaxBytes, signalBurst } from "#contract/limits/calls.ts";
import { sendBatchMax } from "#contract/limits/messages.ts";
import { creditMessages } from "#contract/limits/sockets.ts";
import {
  CallClient,
  channelStub,
  conversationStub,
  makeAnsweredCall,
  makeCallers,
  makeRingingCall,
} from "#tests/worker/support/call-client.ts";
import { advanceClock } from "#tests/worker/support/clock.ts";
import { makeText, request, waitUntil } from "#tests/worker/support/device.ts";
import { nameOf } from "#tests/worker/support/object-name.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { Conversation } from "#worker/objects/conversation.ts";
import { UserChannel } from "#worker/objects/user-channel.ts";

/** Signals between the two devices of a call: relayed between them, and stored by nobody. */

afterEach(() => {
  vi.restoreAllMocks();
});

const signalsOf = ({ received }: CallClient) =>
  received.flatMap(({ event_type, data }) => (event_type === "signal" ? [data] : []));
const wordsOf = (phone: CallClient) => signalsOf(phone).map(({ signal }) => signal);

test("a signal for all is sent to all devices of the other person, and to nobody else", async () => {
  const { ana, ben, id, anas, bens, call } = await makeAnsweredCall();
  const [anasTablet, bensTablet] = [await CallClient.open(ana, id), await CallClient.open(ben, id)];
  const cleo = await seedPerson();
  const cleos = await CallClient.open(cleo, await befriend(cleo, ben));
  expect(await anas.signal(call, "pour tous")).toEqual({ passed: true });
  const expectedSignal = {
    call_id: call,
    conversation: id,
    from_device: anas.id,
    to_device: null,
    signal: "pour tous",
  };
  for (const phone of [bens, bensTablet]) {
    await phone.waitForEvent(call, "signal");
    expect(signalsOf(phone)).toEqual([expectedSignal]);
  }
  await Promise.all([anas, anasTablet, cleos].map(({ device: link }) => link.waitForPong()));
  for (const phone of [anas, anasTablet, cleos]) {
    expect(phone.received.filter(({ event_type }) => event_type === "signal")).toEqual([]);
  }
  for (const stub of [channelStub(ana.id), channelStub(ben.id), conversationStub(id)]) {
    const kept = await runInDurableObject(stub, (_, { storage }) =>
      storage.sql
        .exec<{ name: string }>(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
        )
        .toArray()
        .flatMap(({ name }) => storage.sql.exec(`SELECT * FROM "${name}"`).toArray()),
    );
    expect(JSON.stringify(kept)).not.toContain("pour tous");
  }
});

test("a signal for one device is sent to no other, though the channel is evicted in between", async () => {
  const { ben, id, anas, bens, call } = await makeAnsweredCall();
  const [tablet, laptop] = [await CallClient.open(ben, id), await CallClient.open(ben, id)];
  await bens.signal(call, "me voici");
  await anas.signal(call, "pour un", bens.id);
  await evictDurableObject(channelStub(ben.id));
  await tablet.signal(call, "moi aussi");
  await bens.signal(call, "encore moi");
  await anas.signal(call, "pour un encore", bens.id);
  await anas.signal(call, "pour l'autre", tablet.id);
  await anas.signal(call, "pour tous");
  for (const phone of [bens, tablet, laptop]) await waitUntil(() => wordsOf(phone).includes("pour tous"));
  expect(signalsOf(bens)[0]).toEqual({
    call_id: call,
    conversation: id,
    from_device: anas.id,
    to_device: bens.id,
    signal: "pour un",
  });
  expect(wordsOf(bens)).toEqual(["pour un", "pour un encore", "pour tous"]);
  expect(wordsOf(tablet)).toEqual(["pour l'autre", "pour tous"]);
  expect(wordsOf(laptop)).toEqual(["pour tous"]);
});

test("a signal for a device without a stated id is sent to all such devices, including later sockets", async () => {
  const { ana, id, anas, bens, call } = await makeAnsweredCall();
  advanceClock(1_000);
  const next = await CallClient.open(ana, id);
  // The server does not know yet that the earlier socket is dead.
  await bens.signal(call, "pour elle", anas.id);
  await bens.signal(call, "pour une autre", createUuid());
  for (const phone of [next, anas]) await waitUntil(() => wordsOf(phone).includes("pour elle"));
  await waitUntil(() => wordsOf(next).length === 2);
  expect(wordsOf(anas)).toEqual(["pour elle"]);
});

test("signals are relayed only in an open call, and only between its two people", async () => {
  const { ben, id, anas, bens, call } = await makeRingingCall();
  const cleo = await seedPerson();
  const other = await befriend(cleo, ben);
  const cleos = await CallClient.open(cleo, other);
  const refused = { error: "call_not_found" };
  const asked = { type: "signal", call, from: cleos.id, to: null, signal: "de Cléo" } as const;
  expect(await cleos.request(asked, id)).toEqual(refused);
  expect(await cleos.request(asked, other)).toEqual(refused);
  expect(await anas.signal(createUuid(), "d'un autre appel")).toEqual(refused);
  expect(await bens.signal(call, "en sonnant")).toEqual({ passed: true });
  await anas.hangUp(call, "missed");
  await bens.waitForEvent(call, "missed");
  for (const phone of [anas, bens]) expect(await phone.signal(call, "trop tard")).toEqual(refused);
  expect(bens.listEvents(call)).toEqual(["ring", "missed"]);
  // A direct request to another person's channel, as an object sends it, relays nothing either.
  const channel = channelStub(ben.id) as unknown as { deliverSignal(...values: unknown[]): Promise<void> };
  for (const from of [cleo.id, anas.person.id]) {
    await channel.deliverSignal(from, { call, conversation: other, from: cleos.id, to: null, signal: "faux" });
  }
  await bens.device.waitForPong();
  expect(bens.listEvents(call)).toEqual(["ring", "missed"]);
});

test("the callee's address is not relayed before they accept, and is relayed from then on", async () => {
  const { id, anas, bens, call } = await makeRingingCall();
  const relayed = "candidate:3 1 udp 41885439 203.0.113.9 50000 typ relay raddr 0.0.0.0 rport 9";
  const host = "candidate:1 1 udp 2122194687 192.0.2.2 49335 typ host";
  const inside = JSON.stringify({ d: "answer", n: 1, sdp: `v=0\r\na=${host}\r\n` });
  for (const signal of [host, `${relayed}"${host}`, inside]) {
    expect(await bens.signal(call, signal, anas.id)).toEqual({ error: "not_allowed" });
  }
  expect(await bens.signal(call, relayed, anas.id)).toEqual({ passed: true });
  // The caller appears online.
  expect(await anas.signal(call, host, bens.id)).toEqual({ passed: true });
  // A signal sent right after the answer is processed after it.
  bens.device.send(["j", 900, id, { type: "answer", call, device: bens.id }]);
  bens.device.send(["j", 901, id, { type: "signal", call, from: bens.id, to: anas.id, signal: host }]);
  const answerTo = (ref: number) => bens.device.frames.find((frame) => Array.isArray(frame) && frame[1] === ref);
  await waitUntil(() => answerTo(900) !== undefined && answerTo(901) !== undefined);
  expect(answerTo(901)).toEqual(["y", 901]);
  expect(await bens.signal(call, inside, anas.id)).toEqual({ passed: true });
  await waitUntil(() => wordsOf(anas).length === 3);
  expect(wordsOf(anas)).toEqual([relayed, host, inside]);
});

test("signals of a ringing device reach the caller before the caller knows that it rings", async () => {
  const { ana, id, anas, bens } = await makeCallers();
  const call = createUuid();
  const runCallCommand = Conversation.prototype.runCallCommand;
  let go = (): void => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  vi.spyOn(Conversation.prototype, "runCallCommand").mockImplementation(async function (this: Conversation, ...args) {
    const answer = await runCallCommand.apply(this, args);
    await held;
    return answer;
  });
  const notify = UserChannel.prototype.notify;
  vi.spyOn(UserChannel.prototype, "notify").mockImplementation(function (this: UserChannel, notice) {
    return nameOf(this) === ana.id ? held.then(() => "written" as const) : notify.call(this, notice);
  });
  anas.device.send(["j", 900, id, { type: "dial", call, kind: "audio", device: anas.id }]);
  await bens.waitForEvent(call, "ring");
  expect(await bens.signal(call, "ça sonne")).toEqual({ passed: true });
  await anas.waitForEvent(call, "signal");
  go();
  await anas.waitForEvent(call, "ring");
});

test("signals have a maximum size and a rate limit", async () => {
  const { id, anas, bens, call } = await makeAnsweredCall();
  const signal = (ref: number, of: string) =>
    anas.device.send(["j", ref, id, { type: "signal", call, from: anas.id, to: null, signal: of }]);
  expect(await anas.signal(call, "x".repeat(callSignalMaxBytes))).toEqual({ passed: true });
  await bens.waitForEvent(call, "signal");
  const before = anas.device.frames.length;
  signal(900, "é".repeat(callSignalMaxBytes / 2 + 1));
  await waitUntil(() => anas.device.frames.slice(before).some((frame) => Array.isArray(frame) && frame[0] === "x"));
  // A waiting caller gets a reply.
  expect(anas.device.frames.slice(before)).toContainEqual(["n", 900, "malformed_frame"]);
  const count = signalBurst + 20;
  // On a busy machine the limit would refill as fast as it is used.
  const now = Date.now();
  const frozen = vi.spyOn(Date, "now").mockImplementation(() => now);
  for (let i = 0; i < count; i++) signal(1_000 + i, `${i}`);
  const answers = () => anas.device.frames.filter((frame) => Array.isArray(frame) && Number(frame[1]) >= 1_000);
  await waitUntil(() => answers().length === count);
  frozen.mockRestore();
  const refused = answers().filter((frame) => Array.isArray(frame) && frame[2] === "rate_limited").length;
  expect(refused).toBeGreaterThan(0);
  await waitUntil(
    () => bens.received.filter(({ event_type }) => event_type === "signal").length === 1 + count - refused,
  );
  // A limit on signals limits nothing else.
  expect(await anas.heartbeat(call)).toEqual({ passed: true });
});

test("a device that has not acknowledged its frames still receives call events", async () => {
  const { ana, ben, id, anas } = await makeCallers();
  const slow = await CallClient.open(ben, id);
  const isBehind = () => slow.device.frames.some((frame) => Array.isArray(frame) && frame[0] === "b");
  for (let sent = 0; !isBehind() && sent < 2 * creditMessages; sent += sendBatchMax) {
    const messages = Array.from({ length: sendBatchMax }, (_, i) => makeText(`m${sent + i}`));
    await request(ana, { type: "send", conversation: id, messages });
    await scheduler.wait(20);
  }
  await waitUntil(isBehind);
  const call = createUuid();
  await anas.dial(call);
  await slow.waitForEvent(call, "ring");
  // A client hears repeated signals once it has caught up.
  expect(await anas.signal(call, "une offre")).toEqual({ passed: true });
  await anas.hangUp(call, "missed");
  await slow.waitForEvent(call, "missed");
  expect(slow.listEvents(call)).toEqual(["ring", "missed"]);
});
