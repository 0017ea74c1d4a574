import { IDBKeyRange } from "fake-indexeddb";
import { describe, expect, it } from "vitest";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { LocalStore, toStoreName } from "#sync/store/database.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { listConversations, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

describe("several people on one phone", () => {
  it("each has a separate store", async () => {
    const { server, amina, benoit, chat } = makePair();
    const aminaDevice = makeDevice(server, amina);
    const benoitDevice = makeDevice(server, benoit);
    benoitDevice.indexedDB = aminaDevice.indexedDB;
    aminaDevice.faults.isOffline = true;
    const first = await aminaDevice.openTab();
    await enqueueText(first, chat, "secret draft");
    await aminaDevice.close(first);
    const second = await benoitDevice.openTab();
    await eventually(() => expect(second.link.get()).toBe("online"));
    expect(await listConversations(second)).toEqual([]);
  });

  it("when a session is ended from elsewhere only unsent messages and drafts stay, for the person's return", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "private");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await enqueueText(tab, chat, "unsent");
    const drafts = new TextDrafts(tab);
    drafts.save(chat, "half a thou");
    await drafts.flush();
    await phone.close(tab);
    await deleteAllButUnsent(phone.platform(), amina);
    const where = { indexedDB: phone.indexedDB, IDBKeyRange };
    const store = new LocalStore(toStoreName(amina), where);
    expect(await Promise.all([store.messages.count(), store.people.count()])).toEqual([0, 0]);
    store.close();
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await waitUntilDeviceSynced(server, next, chat);
    expect(await listShown(next, chat)).toEqual(["private", "unsent sent"]);
    const kept = new TextDrafts(next);
    expect(await kept.read(chat)).toBe("half a thou");
    kept.save(chat, "");
    await kept.flush();
    await phone.close(next);
    await deleteAllButUnsent(phone.platform(), amina);
    expect((await phone.indexedDB.databases()).map(({ name }) => name)).not.toContain(toStoreName(amina));
  });
});
