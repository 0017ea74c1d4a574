import { describe, expect, it } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { defaultSettings, type Settings, type SettingsChange } from "#contract/settings/settings.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { queueSettingsChange } from "#sync/operations/settings-commands.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import {
  readSettings,
  readSettingsCache,
  storeServerSettings,
  toEffectiveSettings,
  writeSettingsCache,
} from "#sync/store/settings-rows.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const shown = async (tab: SyncClient): Promise<Settings> => toEffectiveSettings(await readSettings(getContext(tab)));
const wanted = async (tab: SyncClient): Promise<SettingsChange> => (await readSettings(getContext(tab))).wanted;
const comesToShow = (tab: SyncClient, settings: Partial<Settings>) =>
  eventually(async () => expect(await shown(tab)).toMatchObject(settings));
const isBrought = (tab: SyncClient) => eventually(async () => expect(await wanted(tab)).toEqual({}));
const patches = (phone: ModelDevice) =>
  phone.requests.flatMap(({ method, path, body }) => (method === "PATCH" && path === "/api/settings" ? [body] : []));

describe("changing settings", () => {
  it("a change applies at once, before the server received it, and is sent as soon as possible, once", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    expect(await shown(tab)).toEqual(defaultSettings);
    phone.faults.isOffline = true;
    await queueSettingsChange(tab, { receipts: false });
    expect(await shown(tab)).toEqual({ ...defaultSettings, receipts: false });
    expect(server.inbox(amina).settings).toBeUndefined();
    phone.faults.isOffline = false;
    phone.wake();
    await isBrought(tab);
    expect(server.inbox(amina).settings?.kept.settings).toEqual({ ...defaultSettings, receipts: false });
    expect(server.inbox(amina).settings?.kept.version).toBe(1);
    expect(await shown(tab)).toEqual({ ...defaultSettings, receipts: false });
  });

  it("a change made offline survives the page", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    phone.faults.isOffline = true;
    await queueSettingsChange(first, { tala: false, messages: { sound: false, preview: "text" } });
    await phone.kill(first);
    const second = await phone.openTab();
    expect(await shown(second)).toMatchObject({ tala: false, messages: { sound: false, preview: "text" } });
    phone.faults.isOffline = false;
    phone.wake();
    await isBrought(second);
    expect(server.inbox(amina).settings?.kept.settings).toMatchObject({ tala: false, messages: { sound: false } });
  });

  it("exceptions of one setting are changed offline without those of another", async () => {
    const { server, amina } = makePair();
    const [ben, cleo] = [createUuid(), createUuid()];
    const [phone, tablet] = [makeDevice(server, amina), makeDevice(server, amina)];
    const [tab, other] = [await phone.openTab(), await tablet.openTab()];
    await queueSettingsChange(tab, { exceptions: { presence: [ben] } });
    await comesToShow(other, { exceptions: { presence: [ben] } });
    phone.faults.isOffline = true;
    await queueSettingsChange(tab, { callsFrom: "contacts_except", exceptions: { callsFrom: [ben] } });
    await queueSettingsChange(tab, { exceptions: { pictureTo: [cleo] } });
    expect((await shown(tab)).exceptions).toEqual({ presence: [ben], callsFrom: [ben], pictureTo: [cleo] });
    await queueSettingsChange(other, { exceptions: { presence: [cleo] } });
    await isBrought(other);
    phone.faults.isOffline = false;
    phone.wake();
    await isBrought(tab);
    const exceptions = { presence: [cleo], callsFrom: [ben], pictureTo: [cleo] };
    for (const one of [tab, other]) await comesToShow(one, { callsFrom: "contacts_except", exceptions });
  });

  it("exceptions of one setting that two devices change are merged, and an emptied list does not include the others", async () => {
    const { server, amina } = makePair();
    const [ben, cleo, dido] = [createUuid(), createUuid(), createUuid()];
    const [phone, tablet] = [makeDevice(server, amina), makeDevice(server, amina)];
    const [tab, other] = [await phone.openTab(), await tablet.openTab()];
    const except = (on: SyncClient, people: Uuid[]) =>
      queueSettingsChange(on, {
        callsFrom: people.length > 0 ? "contacts_except" : "contacts",
        exceptions: { callsFrom: people },
      });
    await except(tab, [ben]);
    await comesToShow(other, { exceptions: { callsFrom: [ben] } });
    phone.faults.isOffline = true;
    await except(tab, [cleo, ben]);
    await except(tab, [cleo]);
    await except(other, [dido, ben]);
    await isBrought(other);
    phone.faults.isOffline = false;
    phone.wake();
    await isBrought(tab);
    const merged: Partial<Settings> = { callsFrom: "contacts_except", exceptions: { callsFrom: [cleo, dido] } };
    for (const one of [tab, other]) await comesToShow(one, merged);
    phone.faults.isOffline = true;
    await except(tab, []);
    await except(other, [ben, cleo, dido]);
    await isBrought(other);
    phone.faults.isOffline = false;
    phone.wake();
    await isBrought(tab);
    const left: Partial<Settings> = { callsFrom: "contacts_except", exceptions: { callsFrom: [ben] } };
    for (const one of [tab, other]) await comesToShow(one, left);
  });

  it("an offline change survives the replacement of the store", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await queueSettingsChange(tab, { presence: false });
    await isBrought(tab);
    phone.faults.isOffline = true;
    await queueSettingsChange(tab, { receipts: false });
    // Twice in a row the store fails: it is not to be trusted.
    getContext(tab).reportStoreFailure(new Error("broken"));
    await eventually(() => expect(tab.context.get()).toBeDefined());
    getContext(tab).reportStoreFailure(new Error("broken again"));
    await eventually(() => expect(phone.notices).toContain("store-reset"));
    expect(await shown(tab)).toMatchObject({ receipts: false });
    phone.faults.isOffline = false;
    phone.wake();
    await isBrought(tab);
    expect(server.inbox(amina).settings?.kept.settings).toMatchObject({ presence: false, receipts: false });
    await comesToShow(tab, { presence: false, receipts: false });
  });

  it("two changes of one kind in quick succession both apply", async () => {
    const { server, amina } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    // Two quick taps: the second does not see the result of the first yet.
    await Promise.all([
      queueSettingsChange(tab, { messages: { sound: false } }),
      queueSettingsChange(tab, { messages: { preview: "name" } }),
      queueSettingsChange(tab, { groups: { preview: "name" } }),
      queueSettingsChange(tab, { quietHours: { from: 60 } }),
      queueSettingsChange(tab, { quietHours: { to: 120 } }),
    ]);
    await isBrought(tab);
    expect(server.inbox(amina).settings?.kept.settings).toEqual({
      ...defaultSettings,
      messages: { sound: false, preview: "name" },
      groups: { sound: true, preview: "name" },
      quietHours: { ...defaultSettings.quietHours, from: 60, to: 120 },
    });
  });

  it("devices that change different settings overwrite nothing of each other, and converge", async () => {
    const { server, amina } = makePair();
    const [phone, desk] = [makeDevice(server, amina), makeDevice(server, amina)];
    const [here, there] = [await phone.openTab(), await desk.openTab()];
    phone.faults.isOffline = true;
    await queueSettingsChange(here, { receipts: false });
    await queueSettingsChange(here, { findable: "whole" });
    await queueSettingsChange(there, { presence: false });
    await isBrought(there);
    phone.faults.isOffline = false;
    phone.wake();
    for (const tab of [here, there]) await comesToShow(tab, { receipts: false, findable: "whole", presence: false });
    expect(patches(phone).at(-1)).toEqual({ receipts: false, findable: "whole" });
  });

  it("if two devices change the same setting, the change that reaches the server last applies on both", async () => {
    const { server, amina } = makePair();
    const [phone, desk] = [makeDevice(server, amina), makeDevice(server, amina)];
    const [here, there] = [await phone.openTab(), await desk.openTab()];
    phone.faults.isOffline = true;
    await queueSettingsChange(here, { findable: "whole" });
    await queueSettingsChange(there, { findable: "nobody" });
    await isBrought(there);
    expect(await shown(here)).toMatchObject({ findable: "whole" });
    phone.faults.isOffline = false;
    phone.wake();
    for (const tab of [here, there]) await comesToShow(tab, { findable: "whole" });
  });

  it("a setting that is changed back while it is being sent keeps its last value", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.answerMs = 4_000;
    await queueSettingsChange(tab, { receipts: false });
    await eventually(() => expect(server.inbox(amina).settings?.kept.version).toBe(1));
    await queueSettingsChange(tab, { receipts: true });
    expect(await shown(tab)).toMatchObject({ receipts: true });
    await isBrought(tab);
    expect(await shown(tab)).toMatchObject({ receipts: true });
    expect(server.inbox(amina).settings?.kept.settings.receipts).toBe(true);
    expect(patches(phone)).toEqual([{ receipts: false }, { receipts: true }]);
  });

  it("a request whose answer was lost is repeated without another effect", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    let lost = 0;
    phone.shouldLose = ({ path }, what) => path === "/api/settings" && what === "answer" && lost++ < 2;
    await queueSettingsChange(tab, { tala: false });
    await isBrought(tab);
    expect(patches(phone)).toHaveLength(3);
    expect(await shown(tab)).toMatchObject({ tala: false });
    expect(server.inbox(amina).settings?.kept.settings.tala).toBe(false);
  });

  it("a change in a follower tab is sent by the leader, and both show it", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const [leader, other] = [await phone.openTab(), await phone.openTab()];
    await eventually(() => expect(leader.isLeader).toBe(true));
    await queueSettingsChange(other, { calls: { sound: false } });
    await isBrought(leader);
    for (const tab of [leader, other]) expect(await shown(tab)).toMatchObject({ calls: { sound: false } });
    expect(patches(phone)).toHaveLength(1);
  });

  it("a permanently refused change is reverted and reported", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const exceptions = { presence: [createUuid()] };
    await queueSettingsChange(tab, { tala: false, exceptions });
    await isBrought(tab);
    server.settingsRefusal = "invalid_input";
    await queueSettingsChange(tab, { receipts: false, exceptions: { presence: [], callsFrom: [createUuid()] } });
    await isBrought(tab);
    expect(await shown(tab)).toEqual({ ...defaultSettings, tala: false, exceptions });
    expect(phone.notices).toEqual(["settings-refused"]);
  });

  it("a temporarily refused change is sent later", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.settingsRefusal = "unavailable";
    await queueSettingsChange(tab, { receipts: false });
    await eventually(() => expect(patches(phone).length).toBeGreaterThan(1));
    server.settingsRefusal = undefined;
    await isBrought(tab);
    expect(phone.notices).toEqual([]);
    expect(await shown(tab)).toMatchObject({ receipts: false });
  });
});

describe("receiving settings", () => {
  it("changes of another device apply at once, and after an absence", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    server.changeSettings(amina, { presence: false });
    await comesToShow(tab, { presence: false });
    await phone.close(tab);
    server.changeSettings(amina, { findable: "nobody" });
    await comesToShow(await phone.openTab(), { presence: false, findable: "nobody" });
  });

  it("without a socket they are received by polling", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    server.changeSettings(amina, { tala: false });
    await comesToShow(tab, { tala: false });
  });

  it("a late notice does not undo a newer one", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.reorderDown = 0.5;
    phone.faults.duplicateDown = 0.5;
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    for (let n = 0; n < 10; n++) server.changeSettings(amina, { tala: n % 2 === 0 });
    await eventually(async () => expect((await readSettings(getContext(tab))).kept?.version).toBe(10));
    await phone.pass(2_000);
    expect(await shown(tab)).toMatchObject({ tala: false });
    // The answer to the own change was overtaken by another device's.
    const newest = await readSettings(getContext(tab));
    const late = { version: 9, settings: { ...defaultSettings, tala: true } };
    await storeServerSettings(getContext(tab).store, late);
    expect(await readSettings(getContext(tab))).toEqual(newest);
  });
});

describe("stored settings", () => {
  it("before the store is read the last shown settings apply", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const place = { platform: phone.platform(), me: amina };
    expect(readSettingsCache(place)).toEqual(defaultSettings);
    writeSettingsCache(place, { ...defaultSettings, tala: false });
    expect(readSettingsCache(place)).toEqual({ ...defaultSettings, tala: false });
    expect(readSettingsCache({ ...place, me: "somebody-else" })).toEqual(defaultSettings);
  });

  it("an unsent change survives a session that was ended from elsewhere", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await queueSettingsChange(tab, { tala: false });
    await isBrought(tab);
    phone.faults.isOffline = true;
    await queueSettingsChange(tab, { receipts: false });
    await phone.close(tab);
    await deleteAllButUnsent(phone.platform(), amina);
    const again = await phone.openTab();
    expect(await shown(again)).toEqual({ ...defaultSettings, receipts: false });
    phone.faults.isOffline = false;
    phone.wake();
    await isBrought(again);
    await comesToShow(again, { receipts: false, tala: false });
  });
});
