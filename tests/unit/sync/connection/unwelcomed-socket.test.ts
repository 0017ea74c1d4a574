import { afterEach, expect, it, vi } from "vitest";
import { pingFrame, toPongFrame } from "#contract/wire/server-frames.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { ModelSocket } from "#tests/support/model/model-socket.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

it("a socket that answers pings but sends no welcome frame is replaced", async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const { send } = ModelSocket.prototype;
  // Simulates an object that cannot read its tables at that moment.
  const hello = vi.spyOn(ModelSocket.prototype, "send").mockImplementation(function (this: ModelSocket, text) {
    if (text.startsWith('["h"')) hello.mockRestore();
    else send.call(this, text);
  });
  const tab = await phone.openTab();
  server.sendTexts(benoit, chat, "are you there?");
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listTexts(tab, chat)).toEqual(["are you there?"]);
  await eventually(() => expect(server.inbox(amina).sockets.size).toBe(1));
  expect(phone.sockets).toHaveLength(2);
});

it.each<[string, (socket: ModelSocket, text: string) => void]>([
  ["that end before they say welcome", (socket, text) => text.startsWith('["h"') && socket.end(1006)],
  ["that stay silent", () => {}],
  [
    "that answer pings and nothing else",
    (socket, text) => text === pingFrame && socket.dispatchEvent(new MessageEvent("message", { data: toPongFrame(0) })),
  ],
])("if sockets open %s, messages are exchanged by HTTP until one is welcomed", async (_, take) => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  phone.faults.random = () => 0.5;
  const broken = vi.spyOn(ModelSocket.prototype, "send").mockImplementation(function (this: ModelSocket, text) {
    take(this, text);
  });
  const tab = await phone.openTab();
  await enqueueText(tab, chat, "by HTTP");
  await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
  server.sendTexts(benoit, chat, "answer");
  const asked = tab.platform.now();
  await eventually(async () => expect(await listTexts(tab, chat)).toEqual(["by HTTP", "answer"]));
  expect(tab.platform.now() - asked).toBeLessThan(30_000);
  await eventually(() => expect(tab.link.get()).toBe("online"));
  const tries = phone.sockets.length;
  await phone.pass(60_000);
  expect(phone.sockets.length - tries).toBeLessThan(8);
  expect(tab.link.get()).toBe("online");
  const began = tab.platform.now();
  await enqueueText(tab, chat, "at once");
  await eventually(() => expect(server.log(chat).messages).toHaveLength(3));
  expect(tab.platform.now() - began).toBeLessThan(15_000);
  broken.mockRestore();
  await eventually(() => expect(server.inbox(amina).sockets.size).toBe(1));
  server.sendTexts(benoit, chat, "by socket");
  await waitUntilDeviceSynced(server, tab, chat);
});
