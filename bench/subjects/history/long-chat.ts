import type { BrowserContext } from "@playwright/test";
import { newestText, seedChats } from "#bench/fixtures/seeded-chat.ts";
import { launchBrowser, logIn, newPhone } from "#bench/rig/browser.ts";
import { ChatPage } from "#bench/rig/chat-page.ts";
import { countRows } from "#bench/rig/count-rows.ts";
import { makePair } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { computeRatio, median } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { middleText, oldestText } from "#bench/rows/log-seed.ts";
import { startServer } from "#tests/support/server/server.ts";

const sizes = [200, 200_000] as const;
const rounds = 3;
const pagesUp = 2;

const noMatchQuery = "zzz";

/** Milliseconds of each action in one chat, in the order of typical use. */
async function measureChat(context: BrowserContext, url: string): Promise<Record<string, number>> {
  const first = await ChatPage.open(context, url, newestText);
  await first.waitUntilSettled();
  const up: number[] = [];
  for (let i = 0; i < pagesUp; i++) up.push(await first.scrollPageUp());
  await first.openSearch();
  const newest = await first.search(newestText);
  const oldest = await first.search(oldestText);
  const none = await first.search(noMatchQuery);
  await first.search(middleText);
  const jumpMs = await first.openResult(middleText);
  await first.close();
  const again = await ChatPage.open(context, url, newestText);
  await again.close();
  return {
    "open, on a phone that has nothing of it": first.openedMs,
    "open again": again.openedMs,
    "scroll one page up": median(up),
    "search: the newest message is shown": newest.firstMs,
    "search: everything is looked through for it": newest.completeMs,
    "search: the oldest message is shown": oldest.firstMs,
    "search: nothing is found anywhere": none.completeMs,
    "jump to a found message in the middle": jumpMs,
  };
}

/** A chat of 200,000 messages compared with one of 200: time to open, scroll, search and jump, and the rows read. */
export async function measureLongChat(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  const browser = await launchBrowser();
  try {
    const pairs = [await makePair(server.origin), await makePair(server.origin)] as const;
    await seedChats(server, [
      [pairs[0], sizes[0]],
      [pairs[1], sizes[1]],
    ]);
    const chats = [];
    for (const { a, b } of pairs) {
      chats.push({
        state: await logIn(browser, server.origin, a),
        url: `${server.origin}/app/chat/${b.id}`,
        taken: [] as Record<string, number>[],
      });
    }
    for (let round = 0; round < rounds; round++) {
      for (const { state, url, taken } of chats) {
        const context = await newPhone(browser, state);
        taken.push(await measureChat(context, url));
        await context.close();
      }
    }
    const [short, long] = chats.map(({ taken: rounds }) => rounds);
    const rows = Object.keys(short?.[0] ?? {}).map((action) => {
      const getTimes = (rounds: Record<string, number>[] = []) => rounds.map((round) => round[action] ?? Number.NaN);
      const { ratio, low, high } = computeRatio(getTimes(long), getTimes(short));
      const range = `${formatRatio(ratio)} (${low.toFixed(1)}–${high.toFixed(1)})`;
      return [action, formatMilliseconds(median(getTimes(short))), formatMilliseconds(median(getTimes(long))), range];
    });
    return [
      {
        title: "A chat of 200,000 messages against one of 200 (processor 6× slower, network of this machine)",
        columns: ["", "200", "200,000", "ratio"],
        rows,
        notes: [
          `Medians of ${rounds} rounds in turn, each in a fresh browser context; until the message stands on the page. Older messages and the server are searched 150 ms after the last key, which is in the figures.`,
          "The phone has little of the log: what it does not hold comes from the server. The first search of the 200,000 waits until the index is built.",
        ],
      },
      toRowsSection(await countRows("long-chat")),
    ];
  } finally {
    await browser.close();
    await server.stop();
  }
}

function toRowsSection(measured: Awaited<ReturnType<typeof countRows>>): Section {
  const actions = [...new Set(measured.map(({ name }) => name.replace(/, \d+ messages$/, "")))];
  const rows = actions.map((action) => {
    const [short, long] = sizes.map((size) => measured.find(({ name }) => name === `${action}, ${size} messages`));
    const read = [short, long].map((one) => one?.counts.objectRowsRead ?? Number.NaN);
    const [shortRows = Number.NaN, longRows = Number.NaN] = read;
    return [
      action,
      String(shortRows),
      String(short?.per),
      String(longRows),
      String(long?.per),
      formatRatio(longRows / shortRows),
    ];
  });
  return {
    title: "Rows the same reads in the objects",
    columns: ["", "200: rows", "calls", "200,000: rows", "calls", "ratio"],
    rows,
    notes: [
      "Counted inside workerd, for what comes from the server at all. Aim: at most 50 rows for an opening or a page.",
    ],
  };
}
