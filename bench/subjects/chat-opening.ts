import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillChat } from "#bench/fixtures/filled-chat.ts";
import { bareHtml, buildBareReact, serveFolder, servePage } from "#bench/floors/bare-pages.ts";
import { launchBrowser, logIn, newPhone } from "#bench/rig/browser.ts";
import { startCompressingProxy } from "#bench/rig/compressing-proxy.ts";
import { measureOpening, type PageOpening } from "#bench/rig/opening.ts";
import { makePair } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { median } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { startServer } from "#tests/support/server/server.ts";

const rounds = 5;
const messages = 300;
const longTaskMs = 200;
const settleMs = 6_000; // snapshots are saved a few seconds after the start

/** Pages measured in each round, in this order. */
const pages = [
  "bare HTML",
  "bare React",
  "list, cold",
  "chat, cold",
  "chat, cold, sending",
  "list, warm",
  "chat, warm",
  "chat, warm, sending",
] as const;
type PageName = (typeof pages)[number];

/**
 * Time to open the list and a chat on slow 3G, beside a bare HTML and a bare React page: on a signed-in phone without
 * local data, and on one that opened them before.
 */
export async function measureChatOpening(): Promise<Section[]> {
  buildProduct();
  const folder = mkdtempSync(join(tmpdir(), "lisolo-bench-"));
  const stops: (() => Promise<void>)[] = [];
  const browser = await launchBrowser();
  try {
    const server = await startServer();
    stops.push(() => server.stop());
    await buildBareReact(folder);
    const [reactServer, htmlServer] = [await serveFolder(folder), await servePage(bareHtml)];
    stops.push(reactServer.stop, htmlServer.stop);
    const open = async (upstream: string) => {
      const proxy = await startCompressingProxy(upstream);
      stops.push(proxy.stop);
      return proxy.origin;
    };
    const [html, react, origin] = [
      await open(htmlServer.origin),
      await open(reactServer.origin),
      await open(server.origin),
    ];
    const pair = await makePair(origin);
    const marker = await fillChat(pair, messages);
    const [listUrl, chatUrl] = [`${origin}/app`, `${origin}/app/chat/${pair.b.id}`];
    const openings = new Map<PageName, PageOpening[]>(pages.map((name) => [name, []]));
    const measure = async (name: PageName, ...options: Parameters<typeof measureOpening>) => {
      openings.get(name)?.push(await measureOpening(...options));
    };
    for (let round = 0; round < rounds; round++) {
      for (const [name, url] of [
        ["bare HTML", `${html}/login`],
        ["bare React", `${react}/login`],
      ] as const) {
        const context = await newPhone(browser);
        await measure(name, context, url, "input");
        await context.close();
      }
      const state = await logIn(browser, origin, pair.a); // all rounds take longer than a session without renewal
      const listPhone = await newPhone(browser, state);
      await measure("list, cold", listPhone, listUrl, undefined, pair.b.username);
      await listPhone.close();
      const sendingPhone = await newPhone(browser, state);
      await measure("chat, cold, sending", sendingPhone, chatUrl, "textarea", marker, `cold ${round}`);
      await sendingPhone.close();
      const phone = await newPhone(browser, state);
      await measure("chat, cold", phone, chatUrl, "textarea", marker);
      const settled = await phone.newPage();
      for (const url of [listUrl, chatUrl]) {
        await settled.goto(url);
        await settled.waitForFunction(() => navigator.serviceWorker.controller !== null);
        await settled.waitForTimeout(settleMs);
      }
      await settled.close();
      await measure("list, warm", phone, listUrl, undefined, pair.b.username);
      await measure("chat, warm", phone, chatUrl, "textarea", marker);
      await measure("chat, warm, sending", phone, chatUrl, "textarea", marker, `warm ${round}`);
      await phone.close();
    }
    const getTimes = (name: PageName, key: "painted" | "typeable" | "acknowledged" | "takenOver") =>
      (openings.get(name) ?? []).flatMap((opening) => opening[key] ?? []).filter(Number.isFinite);
    const bareHtmlMs = median(getTimes("bare HTML", "painted"));
    const bareReactMs = median(getTimes("bare React", "typeable"));
    const toColumns = (times: readonly number[], floor: number) =>
      times.length === 0 ? ["", ""] : [formatMilliseconds(median(times)), formatRatio(median(times) / floor)];
    const rows = pages.map((name) => {
      const readable = (openings.get(name) ?? []).map(({ painted, markerShown = 0 }) => Math.max(painted, markerShown));
      return [
        name,
        ...toColumns(readable, bareHtmlMs),
        ...toColumns(getTimes(name, "typeable"), bareHtmlMs),
        ...toColumns(getTimes(name, "acknowledged"), bareReactMs),
        ...toColumns(getTimes(name, "takenOver"), bareReactMs),
        (openings.get(name) ?? []).every(({ isKept }) => isKept) ? "yes" : "no",
        Math.max(...(openings.get(name) ?? []).map(({ shift }) => shift)).toFixed(3),
      ];
    });
    const section: Section = {
      title: `List and chat of ${messages} messages on slow 3G (400 kbit/s, 400 ms a request, processor 6× slower)`,
      columns: [
        ...["", "readable", "to HTML", "typeable", "to HTML", "acknowledged send", "to React"],
        ...["app", "to React", "typed text kept", "shift"],
      ],
      rows,
      notes: [
        `Medians of ${rounds} rounds in turn. "Readable": the page has painted, and the newest message is on it. "App": the app has replaced the first view.`,
        '"Acknowledged send": the server has acknowledged a message that was typed and sent as soon as the field took it. "Cold" has no service worker, so the app sends it once it has loaded; "warm" has one, which sends it at once.',
        '"Warm": service worker, local store and snapshots from a visit before. Chromium does not slow the service worker\'s own requests, so this is what the page itself needs.',
      ],
    };
    const getWork = (name: PageName, toFigure: (opening: PageOpening) => number) =>
      median((openings.get(name) ?? []).map(toFigure));
    const reactWorkMs = getWork("bare React", ({ mainThread }) => mainThread);
    const work: Section = {
      title: "Main thread on the same pages (processor 6× slower)",
      columns: ["", "work", "to React", "longest task", `tasks over ${longTaskMs} ms`],
      rows: pages.map((name) => {
        const workMs = getWork(name, ({ mainThread }) => mainThread);
        return [
          name,
          formatMilliseconds(workMs),
          formatRatio(workMs / reactWorkMs),
          formatMilliseconds(getWork(name, ({ longTasks }) => Math.max(0, ...longTasks))),
          String(getWork(name, ({ longTasks }) => longTasks.filter((ms) => ms > longTaskMs).length)),
        ];
      }),
      notes: [
        "Medians of the same rounds, until 1.5 s after the app has replaced the first view, without other threads.",
      ],
    };
    return [section, work];
  } finally {
    await browser.close();
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
