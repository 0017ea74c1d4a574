import { IDBFactory } from "fake-indexeddb";
import { describe, expect, it } from "vitest";
import { type ConversationId, privateConversationId } from "#contract/ids.ts";
import { outboxWindow } from "#contract/limits/messages.ts";
import { searchTextOfBody } from "#contract/messages/body.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

const makeTwoChats = () => {
  const pair = makePair();
  const chantal = pair.server.addPerson("Chantal");
  pair.server.connect(pair.amina, chantal);
  return { ...pair, other: privateConversationId(pair.amina, chantal) };
};

const wordsIn = (server: ModelServer, chat: ConversationId) =>
  server.log(chat).messages.map(({ body }) => searchTextOfBody(body));
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i + 1}`);

/** A burst of `burst` messages, then one a second of the phone's time. */
const limitSends = (server: ModelServer, phone: ModelDevice, burst: number) => {
  let [tokens, at] = [burst, phone.now()];
  server.refuse = (_, command) => {
    if (command.type !== "send") return undefined;
    const [now, wanted] = [phone.now(), command.messages.length];
    [tokens, at] = [Math.min(burst, tokens + (now - at) / 1_000), now];
    if (tokens < wanted) return { error: "rate_limited", retryAfterMs: Math.ceil((wanted + 4 - tokens) * 1_000) };
    tokens -= wanted;
    return undefined;
  };
};

describe.each([
  ["over the socket", false],
  ["by HTTP", true],
])("messages sent %s", (_, noUpgrade) => {
  it("to a conversation that is full for today wait alone, in order, also across a reload", async () => {
    const { server, amina, chat, other } = makeTwoChats();
    const phone = makeDevice(server, amina);
    Object.assign(phone.faults, { noUpgrade, isOffline: true });
    const tab = await phone.openTab();
    for (const n of numbered("", 20)) {
      await enqueueText(tab, chat, `full ${n}`);
      await enqueueText(tab, other, `other ${n}`);
    }
    let isFull = true;
    let refused = 0;
    server.refuse = (_user, command) => {
      if (!isFull || command.type !== "send" || command.conversation !== chat) return undefined;
      refused += command.messages.length;
      return { error: "conversation_limited", retryAfterMs: 120_000 };
    };
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(wordsIn(server, other)).toEqual(numbered("other ", 20)));
    expect(wordsIn(server, chat)).toEqual([]);
    expect((await listShown(tab, chat)).every((shown) => shown.endsWith(" sending"))).toBe(true);
    // The first refusals were sent together; from then on one message is tried.
    expect(refused).toBeLessThanOrEqual(outboxWindow);
    await phone.kill(tab);
    const next = await phone.openTab();
    await enqueueText(next, chat, "full 21");
    await enqueueText(next, other, "other 21");
    await eventually(() => expect(wordsIn(server, other)).toEqual(numbered("other ", 21)));
    isFull = false;
    await eventually(() => expect(wordsIn(server, chat)).toEqual(numbered("full ", 21)));
    await waitUntilDeviceSynced(server, next, chat);
  });

  it("after the local database was lost do not block new messages of other conversations", async () => {
    const { server, amina, chat, other } = makeTwoChats();
    const phone = makeDevice(server, amina);
    Object.assign(phone.faults, { noUpgrade, isOffline: true });
    const tab = await phone.openTab();
    for (const text of numbered("old ", 150)) await enqueueText(tab, chat, text);
    await phone.kill(tab);
    phone.indexedDB = new IDBFactory();
    const next = await phone.openTab();
    await eventually(async () => expect(listOutbox(next.unsent).length).toBe(150));
    const restored = listOutbox(next.unsent).map(({ body }) => searchTextOfBody(body));
    expect(restored).toEqual(numbered("old ", 150));
    limitSends(server, phone, 60);
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(wordsIn(server, chat).length).toBeGreaterThanOrEqual(60));
    const before = wordsIn(server, chat).length;
    for (const text of numbered("new ", 5)) await enqueueText(next, other, text);
    await eventually(() => expect(wordsIn(server, other)).toEqual(numbered("new ", 5)));
    // The conversations take turns.
    expect(wordsIn(server, chat).length).toBeLessThan(before + 30);
    await eventually(() => expect(wordsIn(server, chat)).toEqual(numbered("old ", 150)));
  });
});
