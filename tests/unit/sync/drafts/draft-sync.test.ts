import { IDBObjectStore } from "fake-indexeddb";
import { describe, expect, it, vi } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { typingPauseMs } from "#sync/unsent/draft-row.ts";
import { findDraft } from "#sync/unsent/drafts.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice } from "#tests/support/model/model-fixtures.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

type OpenDevice = { device: ModelDevice; tab: SyncClient; drafts: TextDrafts };

const setUp = async () => {
  const server = new ModelServer();
  const [amina, benoit] = ["Amina", "Benoît"].map((name) => server.addPerson(name)) as [Uuid, Uuid];
  const id = server.connect(amina, benoit);
  const open = async (): Promise<OpenDevice> => {
    const device = makeDevice(server, amina);
    const tab = await device.openTab();
    await waitUntilDeviceSynced(server, tab, id);
    return { device, tab, drafts: new TextDrafts(tab) };
  };
  return { server, amina, id, open, phone: await open(), tablet: await open() };
};

const reopen = async ({ device, tab }: OpenDevice): Promise<OpenDevice> => {
  await device.kill(tab);
  const next = await device.openTab();
  return { device, tab: next, drafts: new TextDrafts(next) };
};

const listKept = ({ tab }: OpenDevice, id: ConversationId) =>
  (findDraft(tab.unsent, id).parked ?? []).map(({ text }) => text);
const waitForDraft = (on: OpenDevice, id: ConversationId, text: string) =>
  eventually(async () => expect(await on.drafts.read(id)).toBe(text));
const waitForStored = (server: ModelServer, user: Uuid, id: ConversationId, text: string) =>
  eventually(() => expect(server.inbox(user).drafts.get(id)?.text).toBe(text));
const countCommands = (server: ModelServer) =>
  server.executedCommands.filter(({ command }) => command.type === "setDraft").length;
/** Delays what a device sends until the returned function is called. */
const delayRequests = ({ device }: OpenDevice): (() => void) => {
  const socket = device.sockets.at(-1);
  if (!socket) throw new Error("no socket");
  const { send } = socket;
  const delayed: string[] = [];
  socket.send = (text) => void delayed.push(text);
  return () => {
    socket.send = send;
    for (const text of delayed) socket.send(text);
  };
};
/** Lets the database of unsent data refuse every draft. */
const fillDrafts = () => {
  const { put } = IDBObjectStore.prototype;
  return vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
    if (this.name === "drafts") throw new DOMException("full", "QuotaExceededError");
    return put.apply(this, args);
  });
};
const setOffline = ({ device }: OpenDevice, isOffline: boolean) => {
  device.faults.isOffline = isOffline;
  if (isOffline) for (const socket of device.sockets) socket.end(1006);
  else device.wake();
};

describe("a draft", () => {
  it("reaches the other device with the message that it answers, and is sent once for a pause in typing", async () => {
    const { server, id, phone, tablet } = await setUp();
    phone.drafts.setReply(id, 4);
    for (const text of ["M", "Mb", "Mbo", "Mbote"]) {
      phone.drafts.type(id, text);
      await phone.device.pass(500);
    }
    expect(countCommands(server)).toBe(0);
    await waitForDraft(tablet, id, "Mbote");
    expect(tablet.drafts.findReply(id)).toBe(4);
    expect(countCommands(server)).toBe(1);
  });

  it("is sent at once when its chat is left", async () => {
    const { id, phone, tablet } = await setUp();
    const before = Date.now();
    phone.drafts.type(id, "Mbote");
    await phone.drafts.share();
    await waitForDraft(tablet, id, "Mbote");
    expect(Date.now() - before).toBeLessThan(2_000);
  });

  it("disappears on the other device when it is sent, also if that was away", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    phone.drafts.type(id, "un");
    await waitForDraft(tablet, id, "un");
    await phone.drafts.send(id, "un");
    await waitForDraft(tablet, id, "");
    phone.drafts.type(id, "deux");
    await waitForDraft(tablet, id, "deux");
    setOffline(tablet, true);
    await phone.drafts.send(id, "deux");
    await waitForStored(server, amina, id, "");
    const away = await reopen(tablet);
    setOffline(away, false);
    await waitForDraft(away, id, "");
    expect(listKept(away, id)).toEqual([]);
  });

  it("that was sent elsewhere leaves what was typed here since", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    phone.drafts.type(id, "un");
    await waitForDraft(tablet, id, "un");
    let isBusy = true;
    server.refuse = (_, command) =>
      isBusy && command.type === "setDraft" && command.text !== "" ? { error: "unavailable" } : undefined;
    tablet.drafts.type(id, "un et demi");
    await tablet.drafts.share();
    await tablet.device.pass(2 * typingPauseMs);
    await phone.drafts.send(id, "un");
    await waitForStored(server, amina, id, "");
    await tablet.device.pass(2 * typingPauseMs);
    expect(await tablet.drafts.read(id)).toBe("un et demi");
    expect(listKept(tablet, id)).toEqual([]);
    isBusy = false;
    await waitForDraft(phone, id, "un et demi");
  });

  it("never replaces a text while somebody types, and the later one wins; the other is kept where it was written", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    setOffline(tablet, true);
    phone.drafts.type(id, "du téléphone");
    await waitForStored(server, amina, id, "du téléphone");
    tablet.drafts.type(id, "de la tab");
    setOffline(tablet, false);
    tablet.drafts.type(id, "de la tablette");
    await waitForDraft(phone, id, "de la tablette");
    expect(await tablet.drafts.read(id)).toBe("de la tablette");
    expect(listKept(phone, id)).toEqual(["du téléphone"]);
    expect(listKept(tablet, id)).toEqual([]);
  });

  it("waits while somebody types in another tab", async () => {
    const { id, phone, tablet } = await setUp();
    const other = new TextDrafts(await tablet.device.openTab());
    other.type(id, "de la tab");
    await other.flush();
    await tablet.device.pass(typingPauseMs / 4);
    phone.drafts.type(id, "du téléphone");
    await phone.drafts.share();
    await tablet.device.pass(typingPauseMs / 4);
    expect(tablet.drafts.read(id)).toBe("de la tab");
    await waitForDraft(tablet, id, "du téléphone");
    expect(listKept(tablet, id)).toEqual(["de la tab"]);
  });

  it("that is older than one written elsewhere gives way, and is kept", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    setOffline(tablet, true);
    tablet.drafts.type(id, "ancien");
    await tablet.drafts.share();
    await tablet.device.pass(60_000);
    phone.drafts.type(id, "récent");
    await waitForStored(server, amina, id, "récent");
    setOffline(tablet, false);
    await waitForDraft(tablet, id, "récent");
    expect(listKept(tablet, id)).toEqual(["ancien"]);
    expect(await phone.drafts.read(id)).toBe("récent");
  });

  it("that gives way is not lost while the device has no room to keep it", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    setOffline(tablet, true);
    tablet.drafts.type(id, "ancien");
    await tablet.drafts.share();
    await tablet.device.pass(60_000);
    phone.drafts.type(id, "récent");
    await waitForStored(server, amina, id, "récent");
    const full = fillDrafts();
    setOffline(tablet, false);
    await tablet.device.pass(20_000);
    const restarted = await reopen(tablet);
    full.mockRestore();
    expect([restarted.drafts.read(id), ...listKept(restarted, id)]).toContain("ancien");
    await waitForDraft(restarted, id, "récent");
    expect(listKept(restarted, id)).toEqual(["ancien"]);
  });

  it("whose request was delayed in the network gives way to one that was written later, and both devices show that", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    const release = delayRequests(phone);
    phone.drafts.type(id, "du téléphone");
    await phone.drafts.share();
    await phone.device.pass(5_000);
    tablet.drafts.type(id, "de la tablette");
    await waitForStored(server, amina, id, "de la tablette");
    await tablet.device.pass(5_000);
    release();
    await waitForStored(server, amina, id, "du téléphone");
    await waitForStored(server, amina, id, "de la tablette");
    for (const on of [phone, tablet]) await waitForDraft(on, id, "de la tablette");
    expect(listKept(phone, id)).toEqual(["du téléphone"]);
    expect(listKept(tablet, id)).toEqual([]);
    expect(countCommands(server)).toBe(3);
  });

  it.each([
    { delay: "delayed", gapMs: 1_700, isLate: true },
    { delay: "not delayed", gapMs: 1_700, isLate: false },
    { delay: "delayed", gapMs: -1_700, isLate: true },
  ])("gives way to one written $gapMs ms later if its request was $delay", async ({ gapMs, isLate }) => {
    const { server, amina, id, phone, tablet } = await setUp();
    const release = delayRequests(phone);
    const releaseTablet = delayRequests(tablet);
    const [first, second] = gapMs > 0 ? [phone, tablet] : [tablet, phone];
    const toText = (on: OpenDevice) => (on === phone ? "du téléphone" : "de la tablette");
    first.drafts.type(id, toText(first));
    await first.device.pass(Math.abs(gapMs));
    second.drafts.type(id, toText(second));
    await Promise.all([phone, tablet].map(({ drafts }) => drafts.flush()));
    if (!isLate) release();
    releaseTablet();
    await waitForStored(server, amina, id, "de la tablette");
    await phone.device.pass(5_000);
    release();
    const later = toText(second);
    await eventually(() => expect(countCommands(server)).toBeGreaterThan(1));
    await phone.device.pass(8_000);
    await waitForStored(server, amina, id, later);
    for (const on of [phone, tablet]) await waitForDraft(on, id, later);
    expect([...listKept(phone, id), ...listKept(tablet, id)]).toEqual([toText(first)]);
  });

  it("is not left in the socket of a device that knows it has no network", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    const release = delayRequests(phone);
    phone.device.isOnline = false;
    phone.drafts.type(id, "du téléphone");
    await phone.device.pass(5_000);
    tablet.drafts.type(id, "de la tablette");
    await waitForStored(server, amina, id, "de la tablette");
    phone.device.isOnline = true;
    release();
    expect(countCommands(server)).toBe(1);
    phone.device.wake();
    for (const on of [phone, tablet]) await waitForDraft(on, id, "de la tablette");
    expect(listKept(phone, id)).toEqual(["du téléphone"]);
    expect(listKept(tablet, id)).toEqual([]);
  });

  it("whose request was delayed in the network does not give way to one that was sent meanwhile", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    const release = delayRequests(phone);
    phone.drafts.type(id, "du téléphone");
    await phone.drafts.share();
    await phone.device.pass(5_000);
    tablet.drafts.type(id, "de la tablette");
    await waitForStored(server, amina, id, "de la tablette");
    await tablet.drafts.send(id, "de la tablette");
    await waitForStored(server, amina, id, "");
    release();
    await waitForDraft(tablet, id, "du téléphone");
    await phone.device.pass(8_000);
    for (const on of [phone, tablet]) expect(await on.drafts.read(id)).toBe("du téléphone");
  });

  it("survives a lost answer and a crash without coming back after it was sent", async () => {
    const { server, amina, id, phone, tablet } = await setUp();
    phone.device.faults.dropDown = 1;
    phone.drafts.type(id, "Mbote");
    await waitForStored(server, amina, id, "Mbote");
    phone.device.faults.dropDown = 0;
    const next = await reopen(phone);
    await next.drafts.send(id, "Mbote");
    await waitForStored(server, amina, id, "");
    await waitForDraft(tablet, id, "");
    expect(await next.drafts.read(id)).toBe("");
  });

  it("is on a new device of the person, and no request is made for drafts before there are any", async () => {
    const { server, amina, id, open, phone, tablet } = await setUp();
    expect(phone.device.requests.filter(({ path }) => path.startsWith("/api/drafts"))).toEqual([]);
    phone.drafts.type(id, "Mbote");
    await waitForStored(server, amina, id, "Mbote");
    await waitForDraft(await open(), id, "Mbote");
    await waitForDraft(tablet, id, "Mbote");
  });
});

describe("in two tabs of one device, a draft", () => {
  const setUpTabs = async () => {
    const { server, amina, id, phone } = await setUp();
    const tab = await phone.device.openTab();
    return { server, amina, id, first: phone, second: { device: phone.device, tab, drafts: new TextDrafts(tab) } };
  };

  it("that a tab did not show when somebody typed there is kept, and a text that follows it is not", async () => {
    const { id, first, second } = await setUpTabs();
    second.drafts.type(id, "a", "");
    await second.drafts.flush();
    first.drafts.type(id, "Un long texte", "");
    await first.drafts.flush();
    expect(listKept(first, id)).toEqual(["a"]);
    first.drafts.type(id, "Un long texte important", "Un long texte");
    await first.drafts.flush();
    second.drafts.type(id, "ab", "a");
    await second.drafts.flush();
    expect(await second.drafts.read(id)).toBe("ab");
    expect(listKept(second, id)).toEqual(["a", "Un long texte important"]);
    second.drafts.type(id, "abc", "ab");
    second.drafts.type(id, "b", "abc");
    await second.drafts.flush();
    expect(listKept(second, id)).toHaveLength(2);
  });

  it("is not ended by sending or deleting what another tab had in its field", async () => {
    const { id, first, second } = await setUpTabs();
    second.drafts.type(id, "à envoyer", "");
    await second.drafts.flush();
    first.drafts.type(id, "à envoyer plus la suite", "à envoyer");
    await first.drafts.flush();
    await second.drafts.send(id, "à envoyer");
    expect(await first.drafts.read(id)).toBe("à envoyer plus la suite");
    second.drafts.type(id, "", "à envoyer");
    await second.drafts.flush();
    expect(await first.drafts.read(id)).toBe("à envoyer plus la suite");
    await first.drafts.send(id, "à envoyer plus la suite");
    expect(await first.drafts.read(id)).toBe("");
    expect(listKept(first, id)).toEqual([]);
  });

  it("is shown where somebody typed before, after a pause", async () => {
    const { id, first } = await setUpTabs();
    let shown = 0;
    const show = () => void shown++;
    first.drafts.afterTyping(id, show);
    expect(shown).toBe(1);
    first.drafts.type(id, "a", "");
    first.drafts.afterTyping(id, show)();
    first.drafts.afterTyping(id, show);
    await first.device.pass(typingPauseMs / 2);
    first.drafts.type(id, "ab", "a");
    await first.device.pass(typingPauseMs / 2);
    expect(shown).toBe(1);
    await first.device.pass(typingPauseMs);
    expect(shown).toBe(2);
  });
});

/** Numbers from 0 to 1 from a seed (mulberry32). */
const makeRandom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

const rounds = toSimulationSize(6, 60);

it.each(Array.from({ length: rounds }, (_, index) => index + 1))(
  "two devices end with the same draft and lose no text, in any order of events (%i)",
  async (seed) => {
    const random = makeRandom(seed);
    const { server, amina, id, phone, tablet } = await setUp();
    const devices = [phone, tablet];
    const typed = new Set<string>();
    const sent = new Set<string>();
    for (let step = 0; step < 25; step++) {
      const index = random() < 0.5 ? 0 : 1;
      const on = devices[index] as OpenDevice;
      const action = random();
      if (action < 0.45) {
        const text = `${index}-${step}`;
        // What the person deletes from the field is not lost.
        typed.delete(await on.drafts.read(id));
        on.drafts.type(id, text);
        typed.add(text);
      } else if (action < 0.6) {
        const text = await on.drafts.read(id);
        if (text !== "") {
          await on.drafts.send(id, text);
          sent.add(text);
        }
      } else if (action < 0.75) setOffline(on, !on.device.faults.isOffline);
      else if (action < 0.85) {
        await on.drafts.flush();
        devices[index] = await reopen(on);
      } else await on.device.pass(random() * 8_000);
      await on.device.pass(random() * 1_500);
    }
    for (const on of devices) setOffline(on, false);
    await eventually(async () => {
      const texts = await Promise.all(devices.map((on) => on.drafts.read(id)));
      expect(texts[0]).toBe(texts[1]);
      expect(server.inbox(amina).drafts.get(id)?.text ?? "").toBe(texts[0]);
      const left = new Set([...texts, ...sent, ...devices.flatMap((on) => listKept(on, id))]);
      expect([...typed].filter((text) => !left.has(text))).toEqual([]);
    });
  },
);
