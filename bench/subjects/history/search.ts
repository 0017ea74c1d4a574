import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "@playwright/test";
import { bareSearch, buildBareReact, serveFolder } from "#bench/floors/bare-pages.ts";
import { launchBrowser, logIn, newPhone, throttleCpu } from "#bench/rig/browser.ts";
import { callAs, makePair, type Person } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { computeRatio, median } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { textsOf } from "#tests/support/browser/test-client.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";
import { startServer } from "#tests/support/server/server.ts";

const rounds = 5;
const otherChats = 39;
const messagesOfLongest = 83_000;
const messagesOfOthers = 3_000; // of each, 200,000 in all
const firstPersonNumber = 5_000;
const writtenAtOnce = 5_000;
const typingDelayMs = 1_000;
const words = {
  frequent: "mbote", // in every message
  rare: "mayele", // in one message, in the middle of the longest chat
  absent: "zuluzulu",
};

const { masolo } = textsOf.fr;

/** Fills the store of a page with messages that its conversations are then complete with. */
const fillStore = async (page: Page, person: Person): Promise<void> => {
  await page.evaluate(
    async ({ name, counts, writtenAtOnce, words }) => {
      const toPromise = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const db = await toPromise(indexedDB.open(name));
      const conversations = await toPromise<{ id: string; lastAt: number }[]>(
        db.transaction("conversations").objectStore("conversations").getAll(),
      );
      conversations.sort((a, b) => a.lastAt - b.lastAt); // the longest chat has the oldest message
      const text = (seq: number, middle: boolean) =>
        `Mbote ${middle ? words.rare : "malamu"}, nazali na nzela ya Matadi, à bientôt, numéro ${seq}`;
      for (const [index, row] of conversations.entries()) {
        const count = index === 0 ? counts.longest : counts.others;
        for (let from = 1; from <= count; from += writtenAtOnce) {
          const transaction = db.transaction("messages", "readwrite");
          for (let seq = from; seq < Math.min(from + writtenAtOnce, count + 1); seq++) {
            const isRare = index === 0 && seq === Math.floor(count / 2);
            transaction.objectStore("messages").put({
              ...{ conversation: row.id, seq, sender: seq % 2, mine: seq % 2, at: 1_700_000_000_000 + seq * 60_000 },
              body: { type: "text", text: text(seq, isRare) },
            });
          }
          await new Promise((resolve, reject) => {
            transaction.oncomplete = resolve;
            transaction.onabort = () => reject(transaction.error);
          });
        }
        const whole = { ...row, head: count, lo: 1, hi: count };
        await toPromise(db.transaction("conversations", "readwrite").objectStore("conversations").put(whole));
      }
      db.close();
    },
    {
      ...{ name: `lisolo-${person.id}`, writtenAtOnce, words },
      counts: { longest: messagesOfLongest, others: messagesOfOthers },
    },
  );
};

/** Milliseconds until the first and until all results of a query are shown. Not a number if there are none. */
type SearchTimes = { firstMs: number; allMs: number };

type SearchOptions = {
  /** Text that remains in the field. */
  left?: string;
  label?: string;
  /** Text on the page while the search runs, if it takes longer than a frame. */
  running?: string;
};

/** Types a query in one go, and waits until the search on the device has ended. */
const search = (
  page: Page,
  query: string,
  { left = "", label = masolo.searchLabel, running = masolo.searchingMessages }: SearchOptions = {},
): Promise<SearchTimes> =>
  page.evaluate(
    async ({ query, left, label, running, found }) => {
      const field = document.querySelector<HTMLInputElement>(`input[aria-label="${label}"]`);
      const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
      if (!field || !write) throw new Error("There is no search field");
      const type = (text: string) => {
        write.call(field, text);
        field.dispatchEvent(new Event("input", { bubbles: true }));
      };
      const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const start = performance.now();
      type(query);
      const body = document.querySelector("[role=main]") ?? document.body;
      const isRunning = () => (running === "" ? !hasFound() : (body.textContent?.includes(running) ?? false));
      const hasFound = () => document.querySelector(`[aria-labelledby="${found}"] mark`) !== null;
      let firstMs = Number.NaN;
      let hasRun = false;
      for (;;) {
        await nextFrame();
        hasRun ||= running === "" || isRunning();
        if (Number.isNaN(firstMs) && hasFound()) firstMs = performance.now() - start;
        if (hasRun && !isRunning()) break;
      }
      const allMs = performance.now() - start;
      if (left !== query) type(left);
      await nextFrame();
      return { firstMs, allMs };
    },
    { query, left, label, running, found: "found-messages" },
  );

/** Milliseconds until a bare page shows its first results of the same query. */
const measureFloor = async (browser: Browser, origin: string): Promise<number> => {
  const context = await newPhone(browser);
  const page = await context.newPage();
  await page.goto(origin);
  const field = page.getByRole("searchbox");
  await field.waitFor();
  await throttleCpu(page);
  await field.focus();
  await page.waitForTimeout(typingDelayMs);
  const { firstMs } = await search(page, words.frequent, { label: "Recherche", running: "" });
  await context.close();
  return firstMs;
};

const measureDevice = async (context: BrowserContext, origin: string): Promise<Record<string, SearchTimes>> => {
  const times: Record<string, SearchTimes> = {};
  for (const [name, query] of Object.entries(words)) {
    const page = await context.newPage();
    await page.goto(`${origin}/app`);
    const field = page.getByRole("searchbox", { name: masolo.searchLabel });
    await field.waitFor();
    await page.waitForTimeout(3_000); // the app loads what it needs later
    await throttleCpu(page);
    // A person reaches for the keyboard, while the app prepares the search.
    await field.focus();
    await page.waitForTimeout(typingDelayMs);
    times[name] = await search(page, query);
    // The same again with one letter less before, as when a person types on.
    const start = query.slice(0, -1);
    await search(page, start, { left: start });
    times[`${name}, typed on`] = await search(page, query).catch(() => ({ firstMs: Number.NaN, allMs: Number.NaN }));
    await page.close();
  }
  return times;
};

/** Search through 200,000 messages in 40 chats, all on the device. */
export async function measureSearch(): Promise<Section[]> {
  buildProduct();
  const folder = mkdtempSync(join(tmpdir(), "bare-search-"));
  await buildBareReact(folder, bareSearch);
  const bare = await serveFolder(folder);
  const server = await startServer();
  const browser = await launchBrowser();
  try {
    const site = { origin: server.origin, fetch };
    const { a } = await makePair(server.origin);
    for (let n = 0; n < otherChats; n++) {
      const other = await makePerson(site, firstPersonNumber + n, `Ami ${n}`);
      await connectPeople(site, a, other);
      const messages = [{ cid: createUuid(), body: { type: "text", text: "Mbote" } }];
      const path = `/api/conversations/${privateConversationId(a.id, other.id)}/messages`;
      await callAs({ ...other, origin: server.origin }, "POST", path, { messages });
    }
    const context = await newPhone(browser, await logIn(browser, server.origin, a));
    const page = await context.newPage();
    await page.goto(`${server.origin}/app`);
    await page
      .getByText(`Ami ${otherChats - 1}`)
      .first()
      .waitFor();
    await page.waitForTimeout(5_000);
    await fillStore(page, a);
    await page.close();
    const taken: Record<string, SearchTimes>[] = [];
    const floors: number[] = [];
    for (let round = 0; round < rounds; round++) {
      floors.push(await measureFloor(browser, bare.origin));
      taken.push(await measureDevice(context, server.origin));
    }
    await context.close();
    const rows = Object.keys(taken[0] ?? {}).map((name) => {
      const getTimes = (key: keyof SearchTimes) => taken.map((one) => one[name]?.[key] ?? Number.NaN);
      const first = median(getTimes("firstMs"));
      const { ratio, low, high } = computeRatio(getTimes("firstMs"), floors);
      const hasFirst = !Number.isNaN(first);
      return [
        name,
        hasFirst ? formatMilliseconds(first) : "none",
        hasFirst ? `${formatRatio(ratio)} (${low.toFixed(1)}–${high.toFixed(1)})` : "",
        formatMilliseconds(median(getTimes("allMs"))),
      ];
    });
    return [
      {
        title: "Search through 200,000 messages on the device (processor 6× slower)",
        columns: ["word", "first result", "to floor", "all results"],
        rows: [...rows, ["floor", formatMilliseconds(median(floors)), "1", ""]],
        notes: [
          `Medians of ${rounds} rounds, each on a new page, from the last key until the result stands on the page. The field had the focus for ${typingDelayMs} ms before. 40 chats; the longest has ${messagesOfLongest} messages and is searched last.`,
          "Floor: a bare React page that filters 300 texts in memory and shows four, measured before each round.",
          '"Frequent": in every message. "Rare": in one message, in the middle of the longest chat. "Typed on": after a search for the same word without its last letter.',
        ],
      },
    ];
  } finally {
    await browser.close();
    await server.stop();
    await bare.stop();
    rmSync(folder, { recursive: true });
  }
}
