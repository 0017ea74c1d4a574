import type { Browser, BrowserContext } from "@playwright/test";
import { servePicture } from "#bench/floors/bare-pages.ts";
import { emulateSlow3G, logIn, newPhone } from "#bench/rig/browser.ts";
import { type EdgeProxy, startCompressingProxy } from "#bench/rig/compressing-proxy.ts";
import type { Pair } from "#bench/rig/person.ts";
import { waitForOfflineReady } from "#tests/support/browser/offline.ts";
import { textsOf } from "#tests/support/browser/test-client.ts";

const pictureTimeoutMs = 60_000;
const settleMs = 1_500;
const clickAfterMs = 500; // an automatic download has started by then

/** Milliseconds from the start of the navigation. */
export type PictureTimes = { placeholder: number; asked: number; full: number };

declare global {
  interface Window {
    benchShowing: Partial<PictureTimes>;
  }
}

/**
 * Opens a page on the slow link and records when a picture's placeholder and the picture are shown; it requests a
 * picture that is not loaded automatically.
 */
async function measurePicture(context: BrowserContext, url: string): Promise<PictureTimes> {
  const page = await context.newPage();
  await page.addInitScript(
    ([load, patienceMs]) => {
      const showing: Partial<PictureTimes> = {};
      let waitsSince: number | undefined;
      window.benchShowing = showing;
      const isHere = (image: HTMLImageElement) => image.complete && image.naturalWidth > 0;
      const timer = setInterval(() => {
        for (const image of document.querySelectorAll<HTMLImageElement>("[role=main] ol img, img[src='/picture']")) {
          if (!isHere(image)) continue;
          if (image.src.startsWith("data:")) showing.placeholder ??= performance.now();
          else if (!image.classList.contains("opacity-0")) showing.full ??= performance.now();
        }
        const button = document.querySelector<HTMLButtonElement>(
          `[role=main] ol button[aria-label*="${load}"]:enabled`,
        );
        waitsSince = button ? (waitsSince ?? performance.now()) : undefined;
        if (button && showing.asked === undefined && performance.now() - (waitsSince ?? 0) > patienceMs) {
          showing.asked = performance.now();
          button.click();
        }
        if (showing.full !== undefined) clearInterval(timer);
      }, 16);
    },
    [textsOf.fr.messages.loadPicture, clickAfterMs] as const,
  );
  await emulateSlow3G(page);
  await page.goto(url, { waitUntil: "commit", timeout: pictureTimeoutMs });
  await page.waitForFunction(() => window.benchShowing.full !== undefined, undefined, { timeout: pictureTimeoutMs });
  const {
    placeholder = Number.NaN,
    asked = Number.NaN,
    full = Number.NaN,
  } = await page.evaluate(() => window.benchShowing);
  await page.close();
  return { placeholder, asked, full };
}

const visits = ["bare", "cold", "warm"] as const;
type Visit = (typeof visits)[number];

/** Newest picture of a pair's chat on the receiver's side, compared with a plain page with the same picture. */
export async function measureFirstPicture(
  browser: Browser,
  origin: string,
  pair: Pair,
  picture: { type: string; bytes: Buffer },
  rounds: number,
): Promise<Record<Visit, PictureTimes[]>> {
  const stops: (() => Promise<void>)[] = [];
  try {
    const floor = await servePicture(picture.type, picture.bytes);
    stops.push(floor.stop);
    const proxies: EdgeProxy[] = [];
    for (const upstream of [floor.origin, origin]) {
      const proxy = await startCompressingProxy(upstream);
      proxies.push(proxy);
      stops.push(proxy.stop);
    }
    const [bare, product] = proxies.map((proxy) => proxy.origin);
    const state = await logIn(browser, product ?? "", pair.b);
    const chat = `${product}/app/chat/${pair.a.id}`;
    const open: Record<Visit, () => Promise<PictureTimes>> = {
      bare: () => inNew(undefined, (context) => measurePicture(context, `${bare}/`)),
      cold: () => inNew(state, (context) => measurePicture(context, chat)),
      warm: () =>
        inNew(state, async (context) => {
          // The list prefetches the chat's messages, but not their pictures.
          const list = await context.newPage();
          await list.goto(`${product}/app`);
          await waitForOfflineReady(list);
          await list.waitForTimeout(settleMs);
          await list.close();
          return measurePicture(context, chat);
        }),
    };
    const showings: Record<Visit, PictureTimes[]> = { bare: [], cold: [], warm: [] };
    for (let round = 0; round < rounds; round++) for (const visit of visits) showings[visit].push(await open[visit]());
    return showings;
  } finally {
    for (const stop of stops) await stop();
  }

  async function inNew<T>(
    state: Awaited<ReturnType<typeof logIn>> | undefined,
    action: (context: BrowserContext) => Promise<T>,
  ): Promise<T> {
    const context = await newPhone(browser, state);
    try {
      return await action(context);
    } finally {
      await context.close();
    }
  }
}
