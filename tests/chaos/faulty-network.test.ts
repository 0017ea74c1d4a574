import type { WebSocketRoute } from "@playwright/test";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { countOutbox, readLocalLog, readServerLog } from "#tests/support/server/logs.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";

/** Random number generator that produces the same faults in every run (mulberry32). */
const seeded = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

type Wire = { toServer?: (frame: string) => string[]; toPhone?: (frame: string) => string[] };

const isAck = (frame: string) => frame.startsWith('["a"');
/** All frames that the server sends unasked: inbox changes, not answers, welcomes or pongs. */
const isPush = (frame: string) => /^(?:\["[miopub]"|[0-9a-z]+,)/.test(frame);

const faults: Record<string, (random: () => number) => Wire> = {
  "every second acknowledgement is lost": (random) => ({
    toPhone: (frame) => (isAck(frame) && random() < 0.5 ? [] : [frame]),
  }),
  "every frame comes twice in both directions": () => ({
    toServer: (frame) => (frame.startsWith('["h"') ? [frame] : [frame, frame]),
    toPhone: (frame) => [frame, frame],
  }),
  "three of ten pushes are lost": (random) => ({
    toPhone: (frame) => (isPush(frame) && random() < 0.3 ? [] : [frame]),
  }),
};

/** Faulty proxy between a client's socket and the server. */
class FaultyProxy {
  #wire: Wire = {};
  /** Frames that were lost or duplicated under the present fault. */
  spoiled = 0;

  set wire(wire: Wire) {
    this.#wire = wire;
    this.spoiled = 0;
  }

  connect(socket: WebSocketRoute): void {
    const server = socket.connectToServer();
    socket.onMessage((frame) => {
      for (const out of this.#pass(frame, this.#wire.toServer)) server.send(out);
    });
    server.onMessage((frame) => {
      for (const out of this.#pass(frame, this.#wire.toPhone)) socket.send(out);
    });
  }

  #pass(frame: string | Buffer, change?: (frame: string) => string[]): (string | Buffer)[] {
    if (!change) return [frame];
    const passed = change(frame.toString());
    if (passed.length !== 1) this.spoiled += 1;
    return passed;
  }
}

/** Messages that each person writes. A typed message takes half a second of processor time on the two devices. */
const each = toSimulationSize(6, 40);

let server: Server;
test.beforeAll(async () => {
  server = await startServer({ vars: cheapWork });
});
test.afterAll(async () => {
  await server.stop();
});

test(`both phones have the same log, each message once, when ${Object.keys(faults).join(", when ")}`, async ({
  browser,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 100);
  const [ana, ben] = people;
  const phones = [await TestClient.open(browser, server), await TestClient.open(browser, server)] as const;
  const proxies = phones.map(() => new FaultyProxy());
  for (const [i, { page }] of phones.entries())
    await page.routeWebSocket(/\/api\/socket/, (socket) => proxies[i]?.connect(socket));
  await phones[0].signInToChat(ana, ben.id);
  await phones[1].signInToChat(ben, ana.id);

  for (const [round, [name, make]] of Object.entries(faults).entries()) {
    await test.step(name, async () => {
      for (const [i, proxy] of proxies.entries()) proxy.wire = make(seeded(7 * (round + 1) + i));
      await Promise.all(
        phones.map(async (phone, i) => {
          for (let n = 1; n <= each; n++) await phone.write(`${round} ${i} ${n}`);
          await expect(phone.message(`${round} ${i} ${each}`)).toBeVisible(); // stored: the outbox counts it
        }),
      );
      for (const { page } of phones) await expect.poll(() => countOutbox(page), { timeout: 60_000 }).toBe(0);
      const log = await readServerLog(site, ana, conversation);
      const count = 2 * each * (round + 1);
      expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
      expect(new Set(log.map(({ text }) => text)).size).toBe(count);
      for (const { page } of phones)
        await expect.poll(() => readLocalLog(page, conversation), { timeout: 20_000 }).toEqual(log);
      expect(proxies.reduce((sum, { spoiled }) => sum + spoiled, 0)).toBeGreaterThan(0);
    });
  }
  for (const phone of phones) await phone.close();
});
