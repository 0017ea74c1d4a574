import { IDBFactory } from "fake-indexeddb";
import { afterEach, expect, it, vi } from "vitest";
import { searchTextOfBody } from "#contract/messages/body.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";
import { ModelSocket } from "#tests/support/model/model-socket.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const hourMs = 3_600_000;
const wordsIn = (server: ModelServer, chat: string) =>
  server.log(chat).messages.map(({ body }) => searchTextOfBody(body));

it.each([
  ["back", -hourMs],
  ["ahead", hourMs],
])(
  "texts of a lost database are sent in the order of writing though the clock was set %s between them",
  async (_, ms) => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "one");
    phone.clockOffsetMs += ms;
    await enqueueText(tab, chat, "two");
    phone.clockOffsetMs -= 2 * ms;
    await enqueueText(tab, chat, "three");
    await phone.kill(tab);
    phone.indexedDB = new IDBFactory();
    const next = await phone.openTab();
    await eventually(async () => expect(listOutbox(next.unsent).length).toBe(3));
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, next, chat);
    expect(wordsIn(server, chat)).toEqual(["one", "two", "three"]);
  },
);

it("a clock that jumps ahead by months does not fail messages that the server temporarily refuses", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  let refusals = 0;
  server.refuse = (_, command) =>
    command.type === "send" && refusals++ < 4 ? { error: "unavailable", retryAfterMs: 1_000 } : undefined;
  await enqueueText(tab, chat, "one");
  await eventually(() => expect(refusals).toBeGreaterThan(0));
  phone.clockOffsetMs = 90 * 24 * hourMs;
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
});

it("a clock set back while a socket stays silent does not stop messages from being sent by HTTP", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  vi.spyOn(ModelSocket.prototype, "send").mockImplementation(() => {});
  const tab = await phone.openTab();
  phone.clockOffsetMs = -hourMs;
  const began = tab.platform.now();
  await enqueueText(tab, chat, "one");
  await eventually(() => expect(wordsIn(server, chat)).toEqual(["one"]));
  expect(tab.platform.now() - began).toBeLessThan(8_000);
});
