import type { BrowserContext } from "@playwright/test";
import { emulateSlow3G } from "./browser.ts";

/** Milliseconds from the start of the navigation. */
export type PageOpening = {
  /** First contentful paint. */
  painted: number;
  /** First trusted key accepted by a field. */
  typeable: number;
  /** Time at which the marker's text was on the page. */
  markerShown: number | undefined;
  /** Whether the typed text is still in the field once the page is idle. */
  isKept: boolean;
  /** Time at which the app had replaced the first view, if the document had one. */
  takenOver: number | undefined;
  /** Sum of the layout shifts. */
  shift: number;
};

const keyEveryMs = 30;
const restMs = 1_500;
const openingTimeoutMs = 60_000;

declare global {
  interface Window {
    benchTyped?: number;
    benchMarked?: number;
    benchPainted?: number;
    benchTakenOver?: number;
    benchShift?: number;
  }
}

/** Opens `url` in a new page on the slow link and presses a key repeatedly from the start, if there is a `field`. */
export async function measureOpening(
  context: BrowserContext,
  url: string,
  field: string | undefined,
  marker?: string,
): Promise<PageOpening> {
  const page = await context.newPage();
  await page.addInitScript(
    ([selector, text]) => {
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          if (entry.name === "first-contentful-paint") window.benchPainted = entry.startTime;
        }
      }).observe({ type: "paint", buffered: true });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          window.benchShift = (window.benchShift ?? 0) + Number(Reflect.get(entry, "value"));
      }).observe({ type: "layout-shift", buffered: true });
      let hadView = false;
      const watch = setInterval(() => {
        const hasView = document.querySelector("#first-view > *") !== null;
        if (hadView && !hasView) {
          window.benchTakenOver = performance.now();
          clearInterval(watch);
        }
        hadView ||= hasView;
      }, 16);
      const typed = (event: Event) => {
        if (event.isTrusted) window.benchTyped ??= performance.now();
      };
      addEventListener("input", typed, true);
      const timer = setInterval(() => {
        const drawn = [...document.querySelectorAll("#first-view, #root")].map(({ textContent }) => textContent);
        if (text && window.benchMarked === undefined && drawn.join().includes(text)) {
          window.benchMarked = performance.now();
        }
        const target = selector ? document.querySelector<HTMLElement>(selector) : null;
        if (window.benchTyped === undefined && target !== document.activeElement) target?.focus();
        if (window.benchTyped !== undefined && (!text || window.benchMarked !== undefined)) clearInterval(timer);
      }, 16);
    },
    [field, marker] as const,
  );
  const cdp = await emulateSlow3G(page);
  const deadline = Date.now() + openingTimeoutMs;
  const opened = page.goto(url, { waitUntil: "commit", timeout: openingTimeoutMs });
  await opened;
  const isDone = () =>
    page.evaluate(
      ([types, wants]) =>
        (!types || window.benchTyped !== undefined) &&
        (!wants || window.benchMarked !== undefined) &&
        window.benchPainted !== undefined,
      [field !== undefined, marker !== undefined] as const,
    );
  const isTyped = async () => field === undefined || page.evaluate(() => window.benchTyped !== undefined);
  while (!(await isTyped())) {
    if (Date.now() > deadline) throw new Error(`${url} accepted no key within ${openingTimeoutMs} ms`);
    for (const type of ["keyDown", "keyUp"] as const) {
      await cdp.send("Input.dispatchKeyEvent", {
        type,
        key: "7",
        code: "Digit7",
        windowsVirtualKeyCode: 55,
        ...(type === "keyDown" && { text: "7" }),
      });
    }
    await page.waitForTimeout(keyEveryMs);
  }
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error(`${url} was not complete within ${openingTimeoutMs} ms`);
    await page.waitForTimeout(keyEveryMs);
  }
  await page.waitForLoadState("load");
  await page
    .waitForFunction(() => document.querySelector("#first-view > *") === null, undefined, { timeout: openingTimeoutMs })
    .catch(() => undefined);
  await page.waitForTimeout(restMs);
  const opening = await page.evaluate(
    (selector) => ({
      painted: window.benchPainted ?? Number.NaN,
      typeable: window.benchTyped ?? Number.NaN,
      markerShown: window.benchMarked,
      takenOver: window.benchTakenOver,
      shift: window.benchShift ?? 0,
      isKept: !selector || (document.querySelector<HTMLInputElement>(selector)?.value ?? "").includes("7"),
    }),
    field,
  );
  await page.close();
  return opening;
}
