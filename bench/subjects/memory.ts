import type { Browser, Page } from "@playwright/test";
import { newestText, seedChats } from "#bench/fixtures/seeded-chat.ts";
import { manyMessagesHtml, servePage } from "#bench/floors/bare-pages.ts";
import { launchBrowser, logIn, newPhone } from "#bench/rig/browser.ts";
import { ChatPage } from "#bench/rig/chat-page.ts";
import { makePair } from "#bench/rig/person.ts";
import { buildProduct } from "#bench/rig/product.ts";
import { formatMilliseconds, formatRatio, type Section } from "#bench/rig/table.ts";
import { seededText } from "#bench/rows/log-seed.ts";
import { textsOf } from "#tests/support/browser/test-client.ts";
import { startServer } from "#tests/support/server/server.ts";
import { measureRendererMemory } from "./tab-memory.ts";

const messages = 20_000;
const extraMessages = 2_000; // so that there is more history than is scrolled
const scrollMaxMs = 300_000; // limit for the scrolling

const restMs = 6_000; // conversation data stays cached for five seconds

type Figures = { heap: number; nodes: number; renderer: number };

/** Memory of a tab after a rest and garbage collection. */
async function measureTab(browser: Browser, page: Page): Promise<Figures> {
  await page.waitForTimeout(restMs);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  for (let i = 0; i < 2; i++) await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.getMetrics");
  const getMetric = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  const figures = {
    heap: getMetric("JSHeapUsedSize"),
    nodes: getMetric("Nodes"),
    renderer: await measureRendererMemory(browser),
  };
  await cdp.detach();
  return figures;
}

const megabytes = (bytes: number): string => (Number.isNaN(bytes) ? "unknown" : `${(bytes / 1e6).toFixed(1)} MB`);

/** Separate browser per tab: its largest renderer is the tab's. */
async function withBrowser<T>(action: (browser: Browser) => Promise<T>): Promise<T> {
  const browser = await launchBrowser();
  try {
    return await action(browser);
  } finally {
    await browser.close();
  }
}

/**
 * Memory after scrolling through 20,000 messages (or as many as time allows), compared with a freshly opened tab and
 * with a plain list of them.
 */
export async function measureMemory(): Promise<Section[]> {
  buildProduct();
  const server = await startServer();
  const floor = await servePage(manyMessagesHtml(Array.from({ length: messages }, (_, i) => seededText(i))));
  try {
    const pair = await makePair(server.origin);
    await seedChats(server, [[pair, messages + extraMessages]]);
    const url = `${server.origin}/app/chat/${pair.b.id}`;
    const plain = await withBrowser(async (browser) => {
      const page = await (await newPhone(browser)).newPage();
      await page.goto(floor.origin);
      return measureTab(browser, page);
    });
    const { taken: readings, scrolled } = await withBrowser(async (browser) => {
      const context = await newPhone(browser, await logIn(browser, server.origin, pair.a));
      const chat = await ChatPage.open(context, url, newestText, 1);
      const { page } = chat;
      await chat.waitUntilSettled();
      const readings: [string, Figures][] = [["the chat just opened", await measureTab(browser, page)]];
      const scrolled = await scrollUp(chat);
      readings.push([`${scrolled.count.toLocaleString("en")} messages further up`, await measureTab(browser, page)]);
      await page.getByRole("button", { name: textsOf.fr.chat.toLatest }).click();
      await page.getByText(newestText).last().waitFor();
      readings.push(["back at the newest message", await measureTab(browser, page)]);
      await page.getByRole("link", { name: textsOf.fr.common.back }).first().click();
      await page.waitForURL(`${server.origin}/app`);
      await page.getByText(newestText).first().waitFor();
      readings.push(["the list of chats after it", await measureTab(browser, page)]);
      return { taken: readings, scrolled };
    });
    const opened = readings[0]?.[1];
    const toRow = ([name, { heap, nodes, renderer }]: [string, Figures]) => [
      name,
      megabytes(heap),
      formatRatio(heap / (opened?.heap ?? Number.NaN)),
      String(nodes),
      megabytes(renderer),
      formatRatio(renderer / (opened?.renderer ?? Number.NaN)),
    ];
    return [
      {
        title: "Memory of the tab",
        columns: ["", "JavaScript heap", "to opened", "DOM nodes", "whole renderer", "to opened"],
        rows: [
          ...readings,
          [`floor: a page with ${messages.toLocaleString("en")} plain <li>`, plain] as [string, Figures],
        ].map(toRow),
        notes: [
          "At rest for some seconds and after garbage collection, with Chromium's own counters; the renderer is the process's private memory (Linux only). 20,000 texts of 70 bytes are 1.4 MB.",
          describeScrolling(scrolled),
        ],
      },
    ];
  } finally {
    await floor.stop();
    await server.stop();
  }
}

type Scrolled = { count: number; pagesMs: number[] };

/** Scrolls up page by page, until the target or the time limit is reached. */
async function scrollUp(chat: ChatPage): Promise<Scrolled> {
  const pagesMs: number[] = [];
  const deadline = Date.now() + scrollMaxMs;
  let count = 0;
  while (count < messages && Date.now() < deadline) {
    pagesMs.push(await chat.scrollPageUp());
    count = messages + extraMessages - (await chat.readOldestSeq());
  }
  return { count, pagesMs };
}

function describeScrolling({ count, pagesMs }: Scrolled): string {
  const sum = (list: number[]) => list.reduce((total, value) => total + value, 0);
  const tenth = Math.ceil(pagesMs.length / 10);
  const mean = (list: number[]) => formatMilliseconds(sum(list) / list.length);
  const paces = `${mean(pagesMs.slice(0, tenth))} a page in the first tenth, ${mean(pagesMs.slice(-tenth))} in the last`;
  const text = `${pagesMs.length} pages in ${(sum(pagesMs) / 1_000).toFixed(1)} s, ${paces} (processor as it is).`;
  if (count >= messages) return text;
  return `NOT ${messages.toLocaleString("en")}: after ${scrollMaxMs / 1_000} s it was ${count.toLocaleString("en")} up. ${text}`;
}
