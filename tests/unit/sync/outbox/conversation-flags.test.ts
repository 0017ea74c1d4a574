import { describe, expect, it } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { pinnedConversationsMax } from "#contract/limits/conversations.ts";
import { type FlagChange, noFlags, toPlaceChange } from "#contract/settings/conversation-flags.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { changeConversationFlags } from "#sync/operations/conversation-flags.ts";
import { countArchived, readConversations } from "#sync/queries/conversation-list.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { toEffectiveFlags } from "#sync/store/row-mapping.ts";
import type { ListFilter } from "#sync/store/view-models.ts";
import { conversationFlags } from "#sync/unsent/operations.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makeGroup, makePair } from "#tests/support/model/model-fixtures.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

const loseNetwork = async (phone: ModelDevice): Promise<void> => {
  phone.faults.isOffline = true;
  for (const socket of phone.server.inbox(phone.user).sockets) socket.end(1006);
  for (const tab of phone.tabs) await eventually(() => expect(tab.link.get()).not.toBe("online"));
};
const findNetwork = (phone: ModelDevice): void => {
  phone.faults.isOffline = false;
  phone.wake();
};

const readFlags = async (tab: SyncClient, chat: ConversationId) => {
  const row = await getContext(tab).store.conversations.get(chat);
  return row ? toEffectiveFlags(row) : noFlags;
};
const readList = async (tab: SyncClient, filter: ListFilter = "all") => {
  return ((await readConversations(getContext(tab), 100, undefined, filter)) ?? []).map(({ id }) => id);
};
const isSettled = (tab: SyncClient) =>
  eventually(async () => {
    const { store, unsent } = getContext(tab);
    expect(conversationFlags.list(unsent)).toEqual([]);
    expect(await store.conversations.filter(({ wanted }) => wanted !== undefined).count()).toBe(0);
  });
const read = async (tab: SyncClient, chat: ConversationId, seq: number) => {
  const viewed = new ReadTracker(tab);
  viewed.markRead(chat, seq);
  await viewed.flush();
};

/** Benoît's two devices, which have read a message, and Amina's. */
const setUp = async () => {
  const { server, amina, benoit, chat } = makePair();
  const [phone, laptop] = [makeDevice(server, benoit), makeDevice(server, benoit)];
  const [phoneTab, laptopTab] = [await phone.openTab(), await laptop.openTab()];
  const aminaTab = await makeDevice(server, amina).openTab();
  server.sendTexts(amina, chat, "Mbote");
  for (const tab of [phoneTab, laptopTab]) await waitUntilDeviceSynced(server, tab, chat);
  await read(phoneTab, chat, 1);
  for (const tab of [phoneTab, laptopTab]) await waitUntilDeviceSynced(server, tab, chat);
  const serverFlags = () => server.log(chat).members.get(benoit)?.flags;
  return { server, amina, benoit, chat, phone, phoneTab, laptop, laptopTab, aminaTab, serverFlags };
};

describe("flags of a conversation", () => {
  it("are shown at once offline, also in the other tab, and reach the other device later", async () => {
    const { chat, phone, phoneTab, laptopTab, serverFlags } = await setUp();
    await loseNetwork(phone);
    await changeConversationFlags(phoneTab, chat, { marked: true });
    await changeConversationFlags(phoneTab, chat, { pinned: true });
    await changeConversationFlags(phoneTab, chat, { archived: true });
    const otherTab = await phone.openTab();
    for (const tab of [phoneTab, otherTab]) {
      expect(await readFlags(tab, chat)).toEqual({ marked: true, archived: true, pinnedAt: null });
      expect([await readList(tab), await readList(tab, "archived"), await readList(tab, "everything")]).toEqual([
        [],
        [chat],
        [chat],
      ]);
    }
    expect(serverFlags()).toEqual(noFlags);
    findNetwork(phone);
    await isSettled(phoneTab);
    await eventually(async () =>
      expect(await readFlags(laptopTab, chat)).toEqual({ marked: true, archived: true, pinnedAt: null }),
    );
    expect(serverFlags()).toEqual({ marked: true, archived: true, pinnedAt: null });
    expect(await countArchived(getContext(laptopTab).store)).toBe(1);
  });

  it.each([true, false])(
    "give a pinned conversation its former place when its archiving is undone (offline: %s)",
    async (isOffline) => {
      const { server, benoit, chat, phone, phoneTab, laptopTab } = await setUp();
      const chantal = server.addPerson("Chantal");
      const second = server.connect(benoit, chantal);
      server.sendTexts(chantal, second, "Mbote");
      for (const tab of [phoneTab, laptopTab]) await waitUntilDeviceSynced(server, tab, second);
      for (const id of [chat, second]) await changeConversationFlags(phoneTab, id, { pinned: true });
      await isSettled(phoneTab);
      if (isOffline) await loseNetwork(phone);
      const before = await changeConversationFlags(phoneTab, chat, { archived: true });
      if (!isOffline) await isSettled(phoneTab);
      expect(await readList(phoneTab)).toEqual([second]);
      await changeConversationFlags(phoneTab, chat, toPlaceChange(before));
      expect(await readList(phoneTab)).toEqual([chat, second]);
      if (isOffline) findNetwork(phone);
      await isSettled(phoneTab);
      for (const tab of [phoneTab, laptopTab])
        await eventually(async () => expect(await readList(tab)).toEqual([chat, second]));
      const archived = await changeConversationFlags(phoneTab, chat, { archived: true });
      expect(toPlaceChange(await changeConversationFlags(phoneTab, chat, { pinned: true }))).toEqual({
        archived: true,
        pinned: false,
      });
      expect(archived).toEqual(before);
    },
  );

  it("mark unread vs. read elsewhere: an offline mark does not return after the other device has read on", async () => {
    const { server, amina, chat, phone, phoneTab, laptopTab, serverFlags } = await setUp();
    await loseNetwork(phone);
    await changeConversationFlags(phoneTab, chat, { marked: true });
    server.sendTexts(amina, chat, "deux");
    await eventually(async () => expect(await readList(laptopTab, "unread")).toEqual([chat]));
    await waitUntilDeviceSynced(server, laptopTab, chat);
    await read(laptopTab, chat, 2);
    await waitUntilDeviceSynced(server, laptopTab, chat);
    findNetwork(phone);
    await isSettled(phoneTab);
    for (const tab of [phoneTab, laptopTab])
      await eventually(async () => expect((await readFlags(tab, chat)).marked).toBe(false));
    expect(serverFlags()?.marked).toBe(false);
  });

  it("a mark that was sent, and whose answer was lost, does not return after another device ended it", async () => {
    const { chat, phone, phoneTab, laptopTab, serverFlags } = await setUp();
    phone.shouldLose = ({ path }, what) => what === "answer" && path.endsWith("/flags");
    await changeConversationFlags(phoneTab, chat, { marked: true });
    await eventually(async () => expect((await readFlags(laptopTab, chat)).marked).toBe(true));
    await changeConversationFlags(laptopTab, chat, { marked: false });
    await eventually(() => expect(serverFlags()?.marked).toBe(false));
    phone.shouldLose = () => false;
    phone.wake();
    await isSettled(phoneTab);
    expect(serverFlags()?.marked).toBe(false);
    await eventually(async () => expect((await readFlags(phoneTab, chat)).marked).toBe(false));
  });

  it("an archived conversation comes back with a message, on every device", async () => {
    const { chat, phoneTab, laptopTab, aminaTab } = await setUp();
    await changeConversationFlags(phoneTab, chat, { archived: true });
    await eventually(async () => expect(await readList(laptopTab)).toEqual([]));
    await enqueueText(aminaTab, chat, "te revoilà");
    for (const tab of [phoneTab, laptopTab]) {
      await eventually(async () => expect(await readList(tab)).toEqual([chat]));
      expect(await readList(tab, "archived")).toEqual([]);
    }
    expect((await readFlags(aminaTab, chat)).archived).toBe(false);
  });

  it("pinned conversations stand on top in the order of pinning, and one too many is refused", async () => {
    const server = new ModelServer();
    const amina = server.addPerson("Amina");
    const chats: ConversationId[] = [];
    for (let i = 0; i < pinnedConversationsMax + 2; i++) {
      const other = server.addPerson(`Contact ${i}`);
      const chat = server.connect(amina, other);
      server.sendTexts(other, chat, "Mbote");
      chats.push(chat);
    }
    const [phone, laptop] = [makeDevice(server, amina), makeDevice(server, amina)];
    const [phoneTab, laptopTab] = [await phone.openTab(), await laptop.openTab()];
    for (const tab of [phoneTab, laptopTab]) for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    const pinned = chats.slice(0, pinnedConversationsMax - 1);
    const [sixth = "", seventh = "", last = ""] = [chats[5], chats[6], chats[4]];
    for (const chat of pinned) await changeConversationFlags(phoneTab, chat, { pinned: true });
    await isSettled(phoneTab);
    await eventually(async () => expect((await readList(laptopTab)).slice(0, pinned.length)).toEqual(pinned));
    await loseNetwork(phone);
    await changeConversationFlags(phoneTab, last, { pinned: true });
    expect((await readList(phoneTab)).slice(0, 5)).toEqual([...pinned, last]);
    await expect(changeConversationFlags(phoneTab, sixth, { pinned: true })).rejects.toMatchObject({
      code: "too_many_pinned",
    });
    await changeConversationFlags(laptopTab, seventh, { pinned: true });
    await isSettled(laptopTab);
    findNetwork(phone);
    await isSettled(phoneTab);
    expect(phone.notices).toContain("pin-refused");
    for (const tab of [phoneTab, laptopTab])
      await eventually(async () => expect((await readList(tab)).slice(0, 5)).toEqual([...pinned, seventh]));
  });

  it("filters show unread or marked conversations, and groups", async () => {
    const { server, amina, withBenoit, group, benoit } = makeGroup();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, group, "à tous");
    server.sendTexts(benoit, withBenoit, "à toi");
    for (const chat of [withBenoit, group]) await waitUntilDeviceSynced(server, tab, chat);
    for (const chat of [withBenoit, group]) await read(tab, chat, 9);
    expect([await readList(tab, "unread"), await readList(tab, "groups")]).toEqual([[], [group]]);
    await changeConversationFlags(tab, withBenoit, { marked: true });
    expect(await readList(tab, "unread")).toEqual([withBenoit]);
  });

  it("choices survive a session that was ended from elsewhere", async () => {
    const { server, benoit, chat, phone, phoneTab, serverFlags } = await setUp();
    await loseNetwork(phone);
    await changeConversationFlags(phoneTab, chat, { pinned: true });
    await phone.close(phoneTab);
    await deleteAllButUnsent(phone.platform(), benoit);
    findNetwork(phone);
    const later = await phone.openTab();
    await waitUntilDeviceSynced(server, later, chat);
    await isSettled(later);
    expect(serverFlags()?.pinnedAt).not.toBeNull();
    await eventually(async () => expect((await readFlags(later, chat)).pinnedAt).toBe(serverFlags()?.pinnedAt));
  });

  it("two devices and a sender in any order end with the same flags as the server", async () => {
    const { server, amina, chat, phone, phoneTab, laptop, laptopTab, serverFlags } = await setUp();
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    const choices: FlagChange[] = ["marked", "archived", "pinned"].flatMap((name) => [
      { [name]: true },
      { [name]: false },
    ]);
    const actions = [
      async (tab: SyncClient) => changeConversationFlags(tab, chat, choices[random(choices.length)] ?? {}),
      async (tab: SyncClient) => changeConversationFlags(tab, chat, choices[random(choices.length)] ?? {}),
      async () => void server.sendTexts(amina, chat, "encore"),
      async (tab: SyncClient) => read(tab, chat, 1_000),
      async (tab: SyncClient) => {
        const device = tab === phoneTab ? phone : laptop;
        if (device.faults.isOffline) findNetwork(device);
        else await loseNetwork(device);
      },
    ];
    for (let step = 0; step < 120; step++)
      await actions[random(actions.length)]?.(random(2) === 0 ? phoneTab : laptopTab);
    for (const device of [phone, laptop]) findNetwork(device);
    for (const tab of [phoneTab, laptopTab]) {
      await isSettled(tab);
      await waitUntilDeviceSynced(server, tab, chat);
      await eventually(async () => expect(await readFlags(tab, chat)).toEqual(serverFlags()));
    }
  });
});
