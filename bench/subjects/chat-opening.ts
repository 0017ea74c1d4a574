import { fillChat } from "#bench/fixtures/filled-chat.ts";
import { launchBrowser, logIn, newPhone } from "#bench/rig/browser.ts";
import { startCompressingProxy } from "#bench/rig/compressing-proxy.ts";
import { measureOpening, type PageOpening } from "#bench/rig/opening.ts";
import { makePair } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { median } from "#bench/rig/statistics.ts";
import { formatMilliseconds, type Section } from "#bench/rig/table.ts";
import { startServer } from "#tests/support/server/server.ts";

const rounds = 3;
const messages = 300;
const settleMs = 1_500;

/** Time to open a chat on slow 3G: on a signed-in phone without local data, and on one that opened it before. */
export async function measureChatOpening(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  const proxy = await startCompressingProxy(server.origin);
  const browser = await launchBrowser();
  try {
    const pair = await makePair(proxy.origin);
    const marker = await fillChat(pair, messages);
    const state = await logIn(browser, proxy.origin, pair.a);
    const url = `${proxy.origin}/app/chat/${pair.b.id}`;
    const cold: PageOpening[] = [];
    const warm: PageOpening[] = [];
    for (let round = 0; round < rounds; round++) {
      const context = await newPhone(browser, state);
      cold.push(await measureOpening(context, url, "textarea", marker));
      const settled = await context.newPage();
      await settled.goto(url);
      await settled.waitForFunction(() => navigator.serviceWorker.controller !== null);
      await settled.waitForTimeout(settleMs);
      await settled.close();
      warm.push(await measureOpening(context, url, "textarea", marker));
      await context.close();
    }
    const row = (name: string, openings: PageOpening[]) => [
      name,
      formatMilliseconds(median(openings.map((opening) => opening.painted))),
      formatMilliseconds(median(openings.map((opening) => opening.markerShown ?? Number.NaN))),
      formatMilliseconds(median(openings.map((opening) => opening.typeable))),
    ];
    const section: Section = {
      title: `A chat of ${messages} messages on slow 3G (400 kbit/s, 400 ms a request, processor 6× slower)`,
      columns: ["", "first paint", "newest message shown", "typeable"],
      rows: [row("cold: signed in, nothing cached", cold), row("warm: service worker and local store", warm)],
      notes: [
        `Medians of ${rounds} rounds in turn. Chromium does not slow the service worker's own requests, so "warm" is what the page itself needs.`,
      ],
    };
    return [section];
  } finally {
    await browser.close();
    await proxy.stop();
    await server.stop();
  }
}
