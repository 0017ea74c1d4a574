import { afterEach, expect, it, vi } from "vitest";
import { creditReportMessages } from "#contract/limits/sockets.ts";
import { type AppFrame, encodeAppFrame } from "#contract/wire/app-frames.ts";
import { decodeClientFrames } from "#contract/wire/client-frames.ts";
import { closeCodes, encodeServerFrame, originBase } from "#contract/wire/server-frames.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { ModelSocket } from "#tests/support/model/model-socket.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/**
 * Records the frames that devices send over their sockets; those for which `drops` is true are not read by the server.
 */
const watchFrames = (drops: (type: string) => boolean) => {
  const read: unknown[][] = [];
  const { send } = ModelSocket.prototype;
  vi.spyOn(ModelSocket.prototype, "send").mockImplementation(function (this: ModelSocket, text) {
    const frames = decodeClientFrames(text) ?? [];
    const kept = frames.filter(({ type }) => !drops(type)).map((frame) => encodeAppFrame(frame as AppFrame));
    read.push(...kept.map((frame) => JSON.parse(frame)));
    if (kept.length > 0) send.call(this, `[${kept}]`);
    else if (frames.length === 0) send.call(this, text);
  });
  return { of: (type: string) => read.filter((frame) => frame[0] === type).map((frame) => frame[1]) };
};

const busyChat = async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  let isDropping = false;
  const frames = watchFrames((type) => isDropping && (type === "received" || type === "foreground"));
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  await eventually(() => expect(frames.of("l")).toEqual([1]));
  isDropping = true;
  server.sendTexts(benoit, chat, ...Array.from({ length: 2 * creditReportMessages }, (_, i) => `m${i}`));
  await waitUntilDeviceSynced(server, tab, chat);
  expect(frames.of("k")).toEqual([]);
  isDropping = false;
  return { server, phone, tab, chat, frames };
};

it("frames that a server over its limit dropped silently are sent again after the next refusal", async () => {
  const { server, tab, chat, frames } = await busyChat();
  let refusals = 0;
  server.refuse = (_, command) =>
    command.type === "send" && refusals++ < 1 ? { error: "rate_limited", retryAfterMs: 2_000 } : undefined;
  await enqueueText(tab, chat, "mine");
  await eventually(() => expect(frames.of("k")).toEqual([2 * creditReportMessages]));
  expect(frames.of("l")).toEqual([1, 1]);
  await waitUntilDeviceSynced(server, tab, chat);
});

it("frames that only report a new head make a device repeat its acknowledgement, once for many of them", async () => {
  const { phone, frames } = await busyChat();
  const behindText = encodeServerFrame({ type: "head", counter: 0, target: 1, head: 1 }, originBase);
  const behind = () => phone.sockets.at(-1)?.dispatchEvent(new MessageEvent("message", { data: behindText }));
  for (let i = 0; i < 10; i++) behind();
  await eventually(() => expect(frames.of("k")).toEqual([2 * creditReportMessages]));
  await phone.pass(5_000);
  expect(frames.of("k")).toHaveLength(1);
});

it("a socket closed for its rate is reopened no earlier than the server said, whatever wakes the phone", async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  const { now } = tab.platform;
  const closedAt = now();
  phone.sockets[0]?.end(closeCodes.rateLimited, "20000");
  for (let i = 0; i < 4; i++) {
    phone.wake();
    await phone.pass(4_000);
  }
  expect(phone.sockets).toHaveLength(1);
  server.sendTexts(benoit, chat, "meanwhile");
  await eventually(() => expect(phone.sockets).toHaveLength(2));
  expect(now() - closedAt).toBeGreaterThanOrEqual(20_000);
  await waitUntilDeviceSynced(server, tab, chat);
});
