import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { clearHistoryBurst, flagBurst, muteBurst } from "#contract/limits/conversations.ts";
import { deletionBurst } from "#contract/limits/messages.ts";
import { connectionCheckBurst } from "#contract/limits/people.ts";
import { searchSliceBurst, searchSlicesMax, searchSlicesPerSecond } from "#contract/limits/search.ts";
import {
  closedMessagesMax,
  floodPauseMs,
  frameTokenBytes,
  helloTimeoutMs,
  joinedFramesMax,
  refusedMessagesBurst,
  socketTokensBurst,
  socketTokensPerSecond,
  userTokensBurst,
} from "#contract/limits/sockets.ts";
import { closeCodes, protocolVersion } from "#contract/wire/server-frames.ts";
import { advanceClock, suspendTimers } from "#tests/worker/support/clock.ts";
import { Device, makeText, request, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { countDirectoryRows } from "#tests/worker/support/row-counter.ts";
import { makePair, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { memoryPolicies } from "#worker/lib/limits/memory-limits.ts";

// Production limits.

type Spied = Record<
  "listMessages" | "updateReceipts" | "clearHistory" | "searchMessages",
  (...values: unknown[]) => Promise<unknown>
>;

const typing = (count: number, handle: number) =>
  `[${Array.from({ length: count }, () => JSON.stringify(["t", handle])).join()}]`;

/** Sends this many frames in one message without waiting for them. */
const sendFrames = (device: Device, count: number) => {
  for (let left = count; left > 0; left -= joinedFramesMax) device.sendRaw(typing(Math.min(left, joinedFramesMax), 1));
};

test("frames over the limit are refused unread with the time to wait, each message in a batch counts, and the socket stays open", async () => {
  const { ana, id } = await makePair();
  const [device, other] = [await Device.open(ana), await Device.open(ana)];
  const page = (ref: number) => ["g", ref, id, "a", 0, 1] as const;
  advanceClock(0); // the clock is frozen
  sendFrames(device, socketTokensBurst);
  const [type, , error, waitMs = 0] = await device.request((ref) => [...page(ref)]);
  expect([type, error]).toEqual(["n", "rate_limited"]);
  // Frames sent together are refused together, each with its own ref.
  device.sendRaw(JSON.stringify([page(901), ["r", id, 1, 1], page(902)]));
  await device.next((frame): frame is never => Array.isArray(frame) && frame[0] === "n" && frame[1] === 902);
  expect(device.frames.filter((frame) => Array.isArray(frame) && frame[0] === "n")).toHaveLength(3);
  // Another device of the same person has its own limit.
  expect((await other.request((ref) => [...page(ref)]))[0]).toBe("g");
  advanceClock(Number(waitMs));
  expect((await device.request((ref) => [...page(ref)]))[0]).toBe("g");
});

test("requests by HTTP and over all sockets are counted together", async () => {
  const { ana, id } = await makePair();
  const devices = [await Device.open(ana), await Device.open(ana)];
  advanceClock(0);
  for (const device of devices) sendFrames(device, socketTokensBurst);
  const read = () => request(ana, { type: "page", conversation: id, direction: "after", seq: 0, limit: 1 });
  await waitUntil(async () => (await read()).error === "rate_limited");
  advanceClock((userTokensBurst / socketTokensPerSecond) * 1_000);
  expect(await read()).not.toHaveProperty("error");
});

test("a hello frame over the limit closes its socket, with the time to wait", async () => {
  const { ana } = await makePair();
  const devices = [await Device.open(ana), await Device.open(ana)];
  advanceClock(0);
  for (const device of devices) sendFrames(device, socketTokensBurst);
  for (const device of devices) await device.request((ref) => ["c", ref, 0, null]);
  const late = await Device.attach(ana);
  late.send(["h", protocolVersion, "", 0]);
  const { code, reason } = await late.closed;
  expect(code).toBe(closeCodes.rateLimited);
  expect(Number(reason)).toBeGreaterThan(0);
  expect(late.frames).toEqual([]);
  advanceClock(Number(reason));
  await Device.open(ana);
});

test("a client that continues over the limit is disconnected, and then cannot open a socket for a while", async () => {
  const { ana } = await makePair();
  const device = await Device.open(ana);
  sendFrames(device, socketTokensBurst);
  const isBarred = async () => (await Device.connect(ana)).status === 429;
  for (let i = 0; i < refusedMessagesBurst; i++) device.sendRaw('["t",1]');
  expect((await device.request((ref) => ["c", ref, 0, null]))[2]).toBe("rate_limited");
  expect(await isBarred()).toBe(false);
  for (let i = 0; i < 2 * refusedMessagesBurst + closedMessagesMax; i++) device.sendRaw('["t",1]');
  await waitUntil(isBarred);
  advanceClock(floodPauseMs);
  const again = await Device.open(ana);
  expect((await again.request((ref) => ["c", ref, 0, null]))[0]).toBe("c");
});

test("a client that continues over the limit with large messages is disconnected after fewer of them", async () => {
  const { ana } = await makePair();
  const device = await Device.open(ana);
  sendFrames(device, socketTokensBurst);
  const large = JSON.stringify(["t", 1, "x".repeat(15 * frameTokenBytes)]);
  const isBarred = async () => (await Device.connect(ana)).status === 429;
  for (let i = 0; i < Math.floor(refusedMessagesBurst / 16) - 1; i++) device.sendRaw(large);
  expect((await device.request((ref) => ["c", ref, 0, null]))[2]).toBe("rate_limited");
  expect(await isBarred()).toBe(false);
  for (let i = 0; i < (2 * refusedMessagesBurst + closedMessagesMax) / 16; i++) device.sendRaw(large);
  await waitUntil(isBarred);
});

test("waiting requests are dropped with their socket", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  const device = await Device.open(ben);
  let asked = 0;
  await runInDurableObject(env.CONVERSATION.getByName(id), (conversation) => {
    vi.spyOn(Object.getPrototypeOf(conversation) as Spied, "listMessages").mockImplementation(async () => {
      asked += 1;
      await scheduler.wait(200);
      return { error: "unavailable" };
    });
  });
  for (let ref = 1; ref <= 100; ref++) device.send(["g", 1_000 + ref, id, "a", 0, 1]);
  await waitUntil(() => asked > 0);
  device.close();
  await scheduler.wait(1_000);
  expect(asked).toBeLessThan(50);
});

test("unknown conversations are looked up in the directory only a limited number of times", async () => {
  const { ana } = await makePair();
  const ids = Array.from({ length: 30 }, () => privateConversationId(ana.id, createUuid()));
  const device = await Device.open(ana);
  const errors: unknown[] = [];
  const { read } = await countDirectoryRows(async () => {
    for (const id of ids) errors.push((await device.request((ref) => ["g", ref, id, "a", 0, 1]))[2]);
  });
  const isLimited = (error: unknown) => error === "rate_limited";
  expect(errors.filter(isLimited)).toHaveLength(ids.length - connectionCheckBurst);
  expect(errors.filter((error) => !isLimited(error))).toEqual(
    Array.from({ length: connectionCheckBurst }, () => "conversation_not_found"),
  );
  expect(read).toBeLessThanOrEqual(10 * connectionCheckBurst);
});

test("searches are limited by the amount they scan, and return the time to wait", async () => {
  const { ana, id } = await makePair();
  await sendTexts(ana, id, "un");
  const device = await Device.open(ana);
  advanceClock(0);
  const search = () => device.request((ref) => ["q", ref, id, "deux", Number.MAX_SAFE_INTEGER]);
  for (let i = 0; i < searchSliceBurst; i++) expect((await search())[0]).toBe("q");
  const [type, , error, waitMs] = await search();
  expect([type, error, waitMs]).toEqual(["n", "rate_limited", (1_000 * searchSlicesMax) / searchSlicesPerSecond]);
  advanceClock(Number(waitMs));
  expect((await search())[0]).toBe("q");
});

test("one person's searches run one after the other, on all sockets", async () => {
  const { ana, id } = await makePair();
  await sendTexts(ana, id, "un");
  const devices = [await Device.open(ana), await Device.open(ana)];
  let running = 0;
  let most = 0;
  await runInDurableObject(env.CONVERSATION.getByName(id), (conversation) => {
    vi.spyOn(Object.getPrototypeOf(conversation) as Spied, "searchMessages").mockImplementation(async () => {
      most = Math.max(most, ++running);
      await scheduler.wait(5);
      running -= 1;
      return { messages: [], before: null, bytes: 0, rows: 0, isLast: false };
    });
  });
  const refs = [901, 902, 903];
  for (const device of devices) for (const ref of refs) device.send(["q", ref, id, "deux", Number.MAX_SAFE_INTEGER]);
  const answered = (device: Device) => device.frames.filter((frame) => Array.isArray(frame) && frame[0] === "q").length;
  await waitUntil(() => devices.every((device) => answered(device) === refs.length));
  expect(most).toBe(1);
});

test("receipts and clears that change nothing are answered without calling the conversation", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un", "deux");
  const device = await Device.open(ben);
  device.send(["r", id, 2, 1]);
  await device.nextOf("u");
  let asked = 0;
  await runInDurableObject(env.CONVERSATION.getByName(id), (conversation) => {
    for (const name of ["updateReceipts", "clearHistory"] as const) {
      vi.spyOn(Object.getPrototypeOf(conversation) as Spied, name).mockImplementation(async () => {
        asked += 1;
        return { error: "unavailable" };
      });
    }
  });
  device.send(["r", id, 1, 1]);
  expect((await device.nextOf("u")).slice(3)).toEqual([2, 1, 1, 2]);
  expect((await device.request((ref) => ["d", ref, id, 0, 0]))[0]).toBe("y");
  expect(await request(ben, { type: "mark", conversation: id, delivered: 0, read: 0 })).toEqual({ unread: 1, head: 2 });
  expect(asked).toBe(0);
});

test("mute changes are limited, and one without effect does not count", async () => {
  const { ana, id } = await makePair();
  const mute = (muted: boolean) => request(ana, { type: "mute", conversation: id, muted });
  advanceClock(0);
  for (let i = 0; i < muteBurst; i++) {
    advanceClock(memoryPolicies.api_by_user.everyMs); // more requests than a person may send at once
    expect(await mute(i % 2 === 0)).toMatchObject({ muted: i % 2 === 0 });
  }
  expect(await mute(true)).toEqual({ error: "rate_limited" });
  expect(await mute(false)).toMatchObject({ muted: false });
});

test("clears are limited, and one without effect does not count", async () => {
  const { ana, id } = await makePair();
  await sendTexts(ana, id, "un");
  const clearHistory = (keep: boolean) => request(ana, { type: "clearHistory", conversation: id, upTo: 1, keep });
  advanceClock(0);
  for (let i = 0; i < clearHistoryBurst; i++) expect(await clearHistory(i % 2 === 0)).toMatchObject({ hidden: 1 });
  expect(await clearHistory(true)).toEqual({ error: "rate_limited" });
  expect(await clearHistory(false)).toMatchObject({ hidden: 1 });
  advanceClock(1_000);
  expect(await clearHistory(true)).toMatchObject({ hidden: 1 });
});

test("changes of flags are limited, and a repetition does not count", async () => {
  const { ana, id } = await makePair();
  const device = await Device.open(ana);
  advanceClock(0);
  const setMarked = async (marked: boolean) => {
    const answer = await device.request((ref) => ["y", ref, id, { marked }]);
    return answer[0] === "n" ? answer[2] : answer[0];
  };
  for (let i = 0; i < flagBurst; i++) expect(await setMarked(i % 2 === 0)).toBe("y");
  expect(await setMarked(true)).toBe("rate_limited");
  expect(await setMarked(false)).toBe("y");
  advanceClock(2_000);
  expect(await setMarked(true)).toBe("y");
});

test("deletions for everybody are limited", async () => {
  const { ana, id } = await makePair();
  const [{ cid }] = [makeText("un")];
  const deletePending = () => request(ana, { type: "deletePending", conversation: id, cid });
  advanceClock(0);
  for (let i = 0; i < deletionBurst; i++) expect(await deletePending()).not.toHaveProperty("error");
  expect(await deletePending()).toEqual({ error: "rate_limited" });
  advanceClock(1_000);
  expect(await deletePending()).not.toHaveProperty("error");
});

test("an idle socket without a hello is closed", async () => {
  const timers = suspendTimers(helloTimeoutMs);
  const device = await Device.attach(await seedPerson());
  await timers.whenHeld();
  await timers.go();
  expect((await device.closed).code).toBe(closeCodes.unwelcomed);
  vi.restoreAllMocks();
});
