import { describe, expect, it } from "vitest";
import type { ConversationId } from "../../contract/ids";
import type { Tab } from "../../src/sync/tab";
import { Viewed } from "../../src/sync/viewing";
import { writeText } from "../../src/sync/writing";
import { eventually } from "../support/eventually";
import { contextOf, expectLevel } from "../support/model-checks";
import type { ModelDevice } from "../support/model-device";
import { ModelServer } from "../support/model-server";
import type { Faults } from "../support/model-socket";
import { makeDevice } from "../support/model-world";

/** mulberry32: small, seeded, good enough to choose faults with. */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

const seeds = process.env["SYNC_SEEDS"]?.split(",").map(Number) ?? [1, 2, 3, 4, 5, 6];
const steps = 60;
const withinMs = 60_000;

/** A person's device in the storm: its tabs come and go, what was typed on it is remembered. */
type Actor = { device: ModelDevice; tabs: Tab[]; typed: Map<ConversationId, string[]> };

const storm = (random: () => number): Partial<Faults> => ({
  delay: random() < 0.5 ? 5 : 0,
  dropDown: random() < 0.5 ? 0.3 : 0,
  dropAck: random() < 0.4 ? 0.3 : 0,
  duplicateDown: random() < 0.4 ? 0.3 : 0,
  reorderDown: random() < 0.4 ? 0.3 : 0,
  cut: random() < 0.4 ? 0.02 : 0,
  noUpgrade: random() < 0.15,
  blackhole: random() < 0.1,
  isOffline: random() < 0.2,
});

const calm: Partial<Faults> = {
  delay: 0,
  dropDown: 0,
  dropAck: 0,
  duplicateDown: 0,
  reorderDown: 0,
  cut: 0,
  noUpgrade: false,
  blackhole: false,
  isOffline: false,
};

const act = async (
  server: ModelServer,
  actor: Actor,
  chats: ConversationId[],
  name: string,
  n: number,
  random: () => number,
) => {
  const { device, tabs, typed } = actor;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const choice = random();
  if (choice < 0.08 || tabs.length === 0) {
    if (tabs.length < 3) tabs.push(await device.openTab());
    return;
  }
  const tab = pick(tabs);
  if (choice < 0.16) {
    tabs.splice(tabs.indexOf(tab), 1);
    return random() < 0.5 ? device.kill(tab) : device.close(tab);
  }
  if (choice < 0.3) return void Object.assign(device.faults, storm(random));
  if (choice < 0.36) return device.wake();
  if (choice < 0.4) return server.recreateInbox(device.user);
  const chat = pick(chats);
  if (choice < 0.55) {
    const row = await contextOf(tab).store.conversations.get(chat);
    const viewed = new Viewed(tab);
    viewed.mark(chat, row?.hi ?? 0);
    return viewed.flush();
  }
  const text = `${name} ${n}`;
  await writeText(tab, chat, text);
  typed.set(chat, [...(typed.get(chat) ?? []), text]);
};

const textOf = (body: { type: string; text?: string }) => body.text ?? body.type;

describe("under faults of every kind at once", () => {
  for (const seed of seeds) {
    it(`every typed message ends up everywhere, once and in order (seed ${seed})`, { timeout: 120_000 }, async () => {
      const random = seeded(seed);
      const server = new ModelServer();
      const people = ["Amina", "Benoît", "Chantal"].map((name) => server.addPerson(name));
      const [amina = "", benoit = "", chantal = ""] = people;
      const withBenoit = server.connect(amina, benoit);
      const withChantal = server.connect(amina, chantal);
      server.pageRowsMax = 7;
      const chatsOf = (user: string) =>
        user === amina ? [withBenoit, withChantal] : [user === benoit ? withBenoit : withChantal];
      const actors: Actor[] = [amina, amina, benoit, chantal].map((user) => {
        const device = makeDevice(server, user);
        device.faults.random = random;
        return { device, tabs: [], typed: new Map() };
      });
      for (let step = 0; step < steps; step++) {
        const index = Math.floor(random() * actors.length);
        const actor = actors[index] as Actor;
        await act(server, actor, chatsOf(actor.device.user), `d${index}`, step, random);
        if (random() < 0.5) await actor.device.pass(random() * 2_000);
      }
      for (const { device, tabs } of actors) {
        Object.assign(device.faults, calm);
        if (tabs.length === 0) tabs.push(await device.openTab());
        device.wake();
      }
      for (const { device, tabs, typed } of actors) {
        for (const chat of chatsOf(device.user)) {
          for (const tab of tabs) await eventually(() => expectLevel(server, tab, chat), withinMs);
          const log = server
            .log(chat)
            .messages.filter(({ author }) => author === device.user)
            .map(({ body }) => textOf(body));
          const mine = typed.get(chat) ?? [];
          // Each typed message is in the log exactly once, and one device's are there in the order they were typed.
          expect(log.filter((text) => mine.includes(text))).toEqual(mine);
        }
      }
      // Nothing is in a log that nobody typed.
      const all = actors.flatMap(({ typed }) => [...typed.values()].flat());
      const logged = [...server.logs.values()].flatMap(({ messages }) => messages.map(({ body }) => textOf(body)));
      expect(logged.sort()).toEqual(all.sort());
    });
  }
});
