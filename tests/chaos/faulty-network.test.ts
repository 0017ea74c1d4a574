import type { WebSocketRoute } from "@playwright/test";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { openPair, type Pair } from "#tests/support/people/pair.ts";
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

/** Puts a faulty proxy between a client's socket and the server. The page connects through it after its next load. */
const spoil = async (pair: Pair, make: (random: () => number) => Wire, seed: number) => {
  for (const [i, phone] of pair.phones.entries()) {
    const random = seeded(seed + i);
    await phone.page.routeWebSocket(/\/api\/socket/, (socket: WebSocketRoute) => {
      const server = socket.connectToServer();
      const wire = make(random);
      const pass = (frame: string | Buffer, change?: (frame: string) => string[]) =>
        change ? change(frame.toString()) : [frame];
      socket.onMessage((frame) => {
        for (const out of pass(frame, wire.toServer)) server.send(out);
      });
      server.onMessage((frame) => {
        for (const out of pass(frame, wire.toPhone)) socket.send(out);
      });
    });
    await phone.page.reload();
    await expect(phone.composer()).toBeVisible({ timeout: 30_000 });
  }
};

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

/** Messages that each person writes. A typed message takes half a second of processor time on the two devices. */
const each = toSimulationSize(16, 40);

let server: Server;
test.beforeAll(async () => {
  server = await startServer({ vars: cheapWork });
});
test.afterAll(async () => {
  await server.stop();
});

Object.entries(faults).forEach(([name, make], index) => {
  test(`both phones have the same log, each message once, when ${name}`, async ({ browser }) => {
    const pair = await openPair(browser, server, 100 + 2 * index);
    await spoil(pair, make, 7 * (index + 1));
    await Promise.all(
      pair.phones.map(async (phone, i) => {
        for (let n = 1; n <= each; n++) await phone.write(`${i} ${n}`);
        await expect(phone.message(`${i} ${each}`)).toBeVisible(); // stored: the outbox counts it
      }),
    );
    for (const phone of pair.phones) await expect.poll(() => countOutbox(phone.page), { timeout: 60_000 }).toBe(0);
    const log = await readServerLog(pair.site, pair.people[0], pair.conversation);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * each }, (_, i) => i + 1));
    expect(new Set(log.map(({ text }) => text)).size).toBe(2 * each);
    for (const phone of pair.phones) {
      await expect.poll(() => readLocalLog(phone.page, pair.conversation), { timeout: 20_000 }).toEqual(log);
    }
    for (const phone of pair.phones) await phone.close();
  });
});
