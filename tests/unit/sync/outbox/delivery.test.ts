import { describe, expect, it, vi } from "vitest";
import { dayMs } from "#contract/limits/durations.ts";
import { sendBatchMax } from "#contract/limits/messages.ts";
import { searchTextOfBody } from "#contract/messages/body.ts";
import { UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import { deleteMessageByClientId } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { retryFailedMessage } from "#sync/sending/files/retry-message.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { changeMessage, listOutbox } from "#sync/unsent/messages.ts";
import { unsentDeletions } from "#sync/unsent/operations.ts";
import { deviceTime } from "#tests/support/model/device-time.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  expectSynced,
  getContext,
  listConversations,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
} from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";
import { TokenBucket } from "#worker/objects/shared/token-bucket.ts";

/** Sets the time at which the unsent messages were written back. */
const makeOlder = (tab: SyncClient, days: number): Promise<void> =>
  tab.unsent.changeAll(
    listOutbox(tab.unsent).map(({ cid }) =>
      changeMessage(cid, tab.platform.now(), (row) => ({ ...row, createdAt: row.createdAt - days * dayMs })),
    ),
  );

describe("sending", () => {
  it("a message goes from clock to one tick, two ticks and blue ticks as the other receives and reads it", async () => {
    const { server, amina, benoit, chat } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    await enqueueText(aminaTab, chat, "Mbote");
    await eventually(async () => expect(await listShown(aminaTab, chat)).toEqual(["Mbote sent"]));
    const benoitTab = await makeDevice(server, benoit).openTab();
    await eventually(async () => expect(await listShown(aminaTab, chat)).toEqual(["Mbote delivered"]));
    expect((await listConversations(benoitTab))[0]).toMatchObject({
      unread: 1,
      last: { body: { text: "Mbote" }, mine: false },
    });
    const viewed = new ReadTracker(benoitTab);
    viewed.markRead(chat, 1);
    await viewed.flush();
    expect((await listConversations(benoitTab))[0]).toMatchObject({ unread: 0 });
    await eventually(async () => expect(await listShown(aminaTab, chat)).toEqual(["Mbote read"]));
  });

  it("a message is not sent before it is on the disk, whatever makes the outbox run", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { write } = UnsentDatabase.prototype;
    const slow = vi.spyOn(UnsentDatabase.prototype, "write").mockImplementation(async function (
      this: UnsentDatabase,
      ...args
    ) {
      await released;
      return write.apply(this, args);
    });
    const sending = enqueueText(tab, chat, "Mbote");
    tab.notifyChanged("outbox");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.log(chat).messages).toEqual([]);
    slow.mockRestore();
    release();
    await sending;
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["Mbote sent"]));
  });

  it("messages written offline are shown at once and sent in order when the network is back", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    for (let i = 1; i <= 30; i++) await enqueueText(tab, chat, `n${i}`);
    expect((await listShown(tab, chat)).slice(0, 2)).toEqual(["n1 sending", "n2 sending"]);
    expect((await listConversations(tab))[0]).toMatchObject({
      id: chat,
      last: { body: { text: "n30" }, status: "sending" },
    });
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).messages.map(({ body }) => body)).toEqual(
      Array.from({ length: 30 }, (_, i) => ({ type: "text", text: `n${i + 1}` })),
    );
  });

  it("a message survives a tab killed before sending, and is sent once by the next one", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const first = await phone.openTab();
    await enqueueText(first, chat, "a");
    await enqueueText(first, chat, "b");
    await phone.kill(first);
    phone.faults.isOffline = false;
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listShown(second, chat)).toEqual(["a sent", "b sent"]);
  });

  it("a message whose acknowledgement is lost is sent again and stored once", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.faults.dropAck = 1;
    await enqueueText(tab, chat, "once");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    await phone.pass(25_000); // longer than an unanswered message waits
    phone.faults.dropAck = 0;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listShown(tab, chat)).toEqual(["once sent"]);
    expect(server.executedCommands.filter(({ command }) => command.type === "send").length).toBeGreaterThan(1);
  });

  it.each([
    { end: "the page died", isSignedOut: false },
    { end: "the session ended", isSignedOut: true },
  ])(
    "a message deleted while being sent is deleted for everybody once it is known to have arrived, though $end",
    async ({ isSignedOut }) => {
      const { server, amina, benoit, chat } = makePair();
      const phone = makeDevice(server, amina);
      const tab = await phone.openTab();
      await eventually(() => expect(tab.link.get()).toBe("online"));
      const benoitTab = await makeDevice(server, benoit).openTab();
      phone.faults.dropAck = 1;
      await enqueueText(tab, chat, "regretted");
      await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
      const [unanswered] = listOutbox(tab.unsent);
      expect(await discardUnsentMessage(tab, unanswered?.cid ?? "")).toBe(true);
      expect(await listShown(tab, chat)).toEqual([]);
      // Nobody knows yet, and the page dies too.
      await phone.kill(tab);
      if (isSignedOut) await deleteAllButUnsent(phone.platform(), amina);
      phone.faults.dropAck = 0;
      const next = await phone.openTab();
      await eventually(() => expect(server.log(chat).messages.map(({ body }) => body)).toEqual([{ type: "deleted" }]));
      await waitUntilDeviceSynced(server, next, chat);
      await waitUntilDeviceSynced(server, benoitTab, chat);
      expect(await listTexts(next, chat)).toEqual(["deleted"]);
      expect(await listTexts(benoitTab, chat)).toEqual(["deleted"]);
      await eventually(async () => expect(unsentDeletions.list(getContext(next).unsent)).toEqual([]));
    },
  );

  it("a late deletion is retried until the server accepts it", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    let refusals = 0;
    server.refuse = (_, command) =>
      command.type === "deletePending" && refusals++ < 3 ? { error: "rate_limited", retryAfterMs: 1_000 } : undefined;
    phone.faults.dropAck = 1;
    await enqueueText(tab, chat, "regretted");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    const [unanswered] = listOutbox(tab.unsent);
    await discardUnsentMessage(tab, unanswered?.cid ?? "");
    phone.faults.dropAck = 0;
    for (const socket of server.inbox(amina).sockets) socket.close();
    await eventually(() => expect(server.log(chat).messages.map(({ body }) => body)).toEqual([{ type: "deleted" }]));
    expect(refusals).toBeGreaterThan(3);
    await eventually(async () => expect(unsentDeletions.list(getContext(tab).unsent)).toEqual([]));
  });

  it("a message that arrived while its author was asked about the deletion is deleted for everybody", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "regretted");
    const [unsent] = listOutbox(tab.unsent);
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listShown(tab, chat)).toEqual(["regretted sent"]);
    await deleteMessageByClientId(tab, chat, unsent?.cid ?? "");
    expect(server.log(chat).messages.map(({ body }) => body)).toEqual([{ type: "deleted" }]);
    expect(await listTexts(tab, chat)).toEqual(["deleted"]);
  });

  it("a permanently refused message is shown as failed, does not delay the next, and can be retried or discarded", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    server.refuse = (_, command) =>
      command.type === "send" && searchTextOfBody(command.messages[0]?.body ?? { type: "deleted" }) === "bad"
        ? { error: "not_connected" }
        : undefined;
    await enqueueText(tab, chat, "bad");
    await enqueueText(tab, chat, "good");
    await eventually(async () => expect((await listShown(tab, chat)).sort()).toEqual(["bad failed", "good sent"]));
    const [failed] = listOutbox(tab.unsent);
    expect(failed).toMatchObject({ state: "failed", error: "not_connected" });
    server.refuse = () => undefined;
    await retryFailedMessage(tab, failed?.cid ?? "");
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["good sent", "bad sent"]));
    server.refuse = () => ({ error: "not_connected" });
    await enqueueText(tab, chat, "unwanted");
    await eventually(async () => expect(await listShown(tab, chat)).toContain("unwanted failed"));
    const [unwanted] = listOutbox(tab.unsent);
    await discardUnsentMessage(tab, unwanted?.cid ?? "");
    expect(await listShown(tab, chat)).toEqual(["good sent", "bad sent"]);
  });

  it("a temporary refusal is waited for, and nothing overtakes the refused message", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    let refusals = 0;
    server.refuse = (_, command) =>
      command.type === "send" && refusals++ < 6 ? { error: "rate_limited", retryAfterMs: 3_000 } : undefined;
    for (const text of ["1", "2", "3", "4"]) await enqueueText(tab, chat, text);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["1", "2", "3", "4"]);
    expect(refusals).toBeGreaterThanOrEqual(6);
  });

  it("messages written offline are sent at the pace of the server, completely and in order", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    const texts = Array.from({ length: 100 }, (_, i) => `n${i + 1}`);
    for (const text of texts) await enqueueText(tab, chat, text);
    const limit = new TokenBucket(60, 1, { tokens: 60, at: deviceTime.now() });
    let refusals = 0;
    server.refuse = (_, command) => {
      if (command.type !== "send" || limit.take(deviceTime.now(), command.messages.length)) return undefined;
      refusals++;
      return { error: "rate_limited", retryAfterMs: limit.waitMs(deviceTime.now(), 5) };
    };
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(refusals).toBeGreaterThan(0));
    expect([...new Set(listOutbox(tab.unsent).map(({ state }) => state))]).toEqual(["queued"]);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).messages.map(({ body }) => body)).toEqual(texts.map((text) => ({ type: "text", text })));
  });

  it("a message that could not be sent for a week is shown as failed", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "old");
    await makeOlder(tab, 8);
    server.refuse = (_, command) => (command.type === "send" ? { error: "unavailable" } : undefined);
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["old failed"]));
  });

  it("a message older than a week without network is sent when there is one, whatever the clock said then", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await enqueueText(tab, chat, "old");
    await makeOlder(tab, 800);
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["old sent"]));
  });

  it("blank text is refused before it is stored", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await expect(enqueueText(tab, chat, " \n ")).rejects.toMatchObject({ code: "empty_message" });
    await expect(enqueueText(tab, chat, "x".repeat(8_001))).rejects.toMatchObject({ code: "message_too_long" });
    expect(listOutbox(tab.unsent).length).toBe(0);
  });

  it("persistent storage is requested once, after the first message is sent", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    expect(phone.persistenceRequests).toBe(0);
    await enqueueText(tab, chat, "a");
    await enqueueText(tab, chat, "b");
    await waitUntilDeviceSynced(server, tab, chat);
    await eventually(() => expect(phone.persistenceRequests).toBe(1));
    await phone.close(tab);
    const next = await phone.openTab();
    await enqueueText(next, chat, "c");
    await waitUntilDeviceSynced(server, next, chat);
    await phone.pass(5_000);
    expect(phone.persistenceRequests).toBe(1);
  });

  it("a message keeps its key from pending to sent", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "same");
    const { store } = getContext(tab);
    const [pending] = listOutbox(tab.unsent);
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect((await store.queryMessages(chat, 1).toArray()).map(({ cid }) => cid)).toEqual([pending?.cid]);
    await expectSynced(server, tab, chat);
  });
});

describe("a server with a rate limit for messages", () => {
  const burst = 60;

  /** A burst of `burst` messages, then one a second of the phone's time. */
  const limit = (server: ModelServer, phone: ModelDevice) => {
    let [tokens, at] = [burst, phone.now()];
    server.refuse = (_, command) => {
      if (command.type !== "send") return undefined;
      const now = phone.now();
      [tokens, at] = [Math.min(burst, tokens + (now - at) / 1_000), now];
      if (tokens >= command.messages.length) {
        tokens -= command.messages.length;
        return undefined;
      }
      return { error: "rate_limited", retryAfterMs: Math.ceil((command.messages.length - tokens) * 1_000) };
    };
  };

  const texts = Array.from({ length: 200 }, (_, i) => `m${i + 1}`);

  it.each([
    ["over the socket", false],
    ["by HTTP", true],
  ])("gets all of 200 messages written offline, in order, none of them failed, %s", async (_, noUpgrade) => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    for (const text of texts) await enqueueText(tab, chat, text);
    limit(server, phone);
    const asked = server.executedCommands.length;
    const failed = new Set<string>();
    const unwatch = tab.unsent.state.subscribe(() => {
      for (const { cid, state } of listOutbox(tab.unsent)) if (state === "failed") failed.add(cid);
    });
    phone.faults.noUpgrade = noUpgrade;
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(server.log(chat).messages).toHaveLength(texts.length));
    unwatch();
    expect(server.log(chat).messages.map(({ body }) => searchTextOfBody(body))).toEqual(texts);
    expect(failed.size).toBe(0);
    // At most one is refused for each that is accepted.
    const sends = server.executedCommands.slice(asked).filter(({ command }) => command.type === "send");
    const sent = sends.flatMap(({ command }) => (command.type === "send" ? command.messages : []));
    expect(sent.length).toBeLessThan(2 * texts.length + sendBatchMax);
  });

  it("does not delay reading", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    server.sendTexts(benoit, chat, ...texts.slice(0, 50));
    let refusals = 0;
    server.refuse = (_, command) =>
      command.type === "page" && refusals++ < 3 ? { error: "rate_limited", retryAfterMs: 2_000 } : undefined;
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(refusals).toBeGreaterThan(3);
  });
});
