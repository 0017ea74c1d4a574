import { describe, expect, it } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { readCurrentMessages } from "#sync/queries/current-messages.ts";
import { type MediaCursor, newestMedia, readMediaPage } from "#sync/queries/media-gallery.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

/** A chat in which each fifth message is a link; the device has the newest messages only. */
const openChat = async () => {
  const { server, amina, benoit, chat } = makePair();
  for (let i = 1; i <= 300; i++) server.sendTexts(benoit, chat, i % 5 === 0 ? `www.exemple.cd/${i}` : `rien ${i}`);
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  return { server, amina, phone, tab, chat };
};

const readSeqs = async (tab: SyncClient, chat: ConversationId, from: MediaCursor) => {
  const { items, next } = await readMediaPage(tab, chat, "link", from);
  return { seqs: items.map(({ seq }) => seq), next };
};

describe("the media of a chat", () => {
  it("are those on this device first, then the older ones of the server, newest first and each once", async () => {
    const { tab, chat } = await openChat();
    const first = await readSeqs(tab, chat, newestMedia);
    expect(first.next?.place).toBe("server");
    const seqs = [...first.seqs];
    for (let next = first.next; next; ) {
      const page = await readSeqs(tab, chat, next);
      seqs.push(...page.seqs);
      next = page.next;
    }
    expect(seqs).toEqual(Array.from({ length: 60 }, (_, i) => 300 - i * 5));
  });

  it("are read without a network as far as they are on this device", async () => {
    const { server, amina, phone, tab, chat } = await openChat();
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    const { seqs, next } = await readSeqs(tab, chat, newestMedia);
    expect(seqs[0]).toBe(300);
    await expect(readMediaPage(tab, chat, "link", next ?? newestMedia)).rejects.toMatchObject({ code: "offline" });
  });

  it("wait as long as the server says after too many requests", async () => {
    const { server, tab, chat } = await openChat();
    let refusals = 0;
    server.refuse = (_, command) =>
      command.type === "search" && refusals++ < 2 ? { error: "rate_limited", retryAfterMs: 1_000 } : undefined;
    const { next } = await readSeqs(tab, chat, newestMedia);
    expect((await readSeqs(tab, chat, next ?? newestMedia)).seqs.length).toBeGreaterThan(0);
    expect(refusals).toBe(3);
  });

  it("without any end after the whole history", async () => {
    const { tab, chat } = await openChat();
    const first = await readMediaPage(tab, chat, "image", newestMedia);
    expect(first).toMatchObject({ items: [], next: { place: "server" } });
    expect(await readMediaPage(tab, chat, "image", first.next ?? newestMedia)).toEqual({ items: [], next: null });
  });

  it("are gone once they are deleted or cleared, and changed once they are edited", async () => {
    const { tab, chat } = await openChat();
    const { store } = tab.context.get() ?? {};
    if (!store) throw new Error("no store");
    const read = async () => {
      const { bodies } = await readCurrentMessages(
        { store, unsent: tab.unsent },
        [5, 295, 300].map((seq) => ({ conversation: chat, seq })),
      );
      return [5, 295, 300].map((seq) => bodies[`${chat} ${seq}`]);
    };
    const [unstored, , newest] = await read();
    expect(unstored).toBeUndefined();
    expect(newest).toBeTruthy();
    const edited = { type: "text", text: "corrigé" } as const;
    await store.messages.update([chat, 300], { body: edited });
    await store.messages.update([chat, 295], { body: { type: "deleted" } });
    await store.conversations.update(chat, { hidden: 10 });
    expect(await read()).toEqual([null, null, edited]);
  });
});
