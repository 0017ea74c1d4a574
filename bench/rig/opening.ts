import type { BrowserContext, CDPSession } from "@playwright/test";
import { emulateSlow3G } from "./browser.ts";

/** Milliseconds from the start of the navigation. */
export type PageOpening = {
  /** First contentful paint. */
  painted: number;
  /** First trusted key accepted by a field. */
  typeable: number;
  /** Time at which the marker's text was on the page. */
  markerShown: number | undefined;
  /** Whether the typed text is still in the field once the page is idle, or was sent as one message. */
  isKept: boolean;
  /** Time at which the server had acknowledged the message that was typed and sent as soon as possible. */
  acknowledged: number | undefined;
  /** Time at which the app had replaced the first view, if the document had one. */
  takenOver: number | undefined;
  /** Sum of the layout shifts. */
  shift: number;
  /** Durations of the main thread's tasks of more than 50 ms. */
  longTasks: number[];
  /** Time that the main thread has worked, in total. */
  mainThread: number;
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
    benchAcknowledged?: number;
    benchShift?: number;
    benchLongTasks?: number[];
  }
}

/** Properties of the window in which the page notes its times. */
type BenchTime = "benchTyped" | "benchMarked" | "benchPainted" | "benchAcknowledged";

type KeyEvent = { key: string; code: string; windowsVirtualKeyCode: number; text?: string };
const enter: KeyEvent = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
const letter: KeyEvent = { key: "7", code: "Digit7", windowsVirtualKeyCode: 55, text: "7" };

async function press(cdp: CDPSession, { text, ...event }: KeyEvent) {
  await cdp.send("Input.dispatchKeyEvent", { type: "keyDown", ...event, ...(text === undefined ? {} : { text }) });
  await cdp.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
}

/**
 * Opens `url` in a new page on the slow link and presses a key repeatedly from the start, if there is a `field`. With
 * `sends`, types this text instead and sends it once the field has taken it.
 */
export async function measureOpening(
  context: BrowserContext,
  url: string,
  field: string | undefined,
  marker?: string,
  sends?: string,
): Promise<PageOpening> {
  const page = await context.newPage();
  await page.addInitScript(
    ([selector, text, sent]) => {
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          if (entry.name === "first-contentful-paint") window.benchPainted = entry.startTime;
        }
      }).observe({ type: "paint", buffered: true });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
          window.benchShift = (window.benchShift ?? 0) + Number(Reflect.get(entry, "value"));
      }).observe({ type: "layout-shift", buffered: true });
      new PerformanceObserver((list) => {
        window.benchLongTasks = [
          ...(window.benchLongTasks ?? []),
          ...list.getEntries().map(({ duration }) => duration),
        ];
      }).observe({ type: "longtask", buffered: true });
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
      // The draft of an opening before it may be part of the message.
      const isAcknowledged = (row: Element) =>
        row.querySelector("bdi")?.textContent?.includes(sent ?? "") &&
        row.querySelector(".i-ph-check-bold, .i-ph-checks-bold") !== null;
      if (sent) {
        const waiting = setInterval(() => {
          if (![...document.querySelectorAll("li")].some(isAcknowledged)) return;
          window.benchAcknowledged = performance.now();
          clearInterval(waiting);
        }, 16);
      }
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
    [field, marker, sends] as const,
  );
  const cdp = await emulateSlow3G(page);
  await cdp.send("Performance.enable");
  const deadline = Date.now() + openingTimeoutMs;
  const opened = page.goto(url, { waitUntil: "commit", timeout: openingTimeoutMs });
  await opened;
  // Not by `page.evaluate`: it first runs a large script of Playwright in the page, for 150 ms before the first paint.
  const check = async (expression: string): Promise<boolean> =>
    (await cdp.send("Runtime.evaluate", { expression })).result.value === true;
  const areSet = (names: readonly BenchTime[]) =>
    check(names.map((name) => `window.${name} !== undefined`).join(" && "));
  const isTakenOver = () => check('document.querySelector("#first-view > *") === null');
  const typed: BenchTime[] = field === undefined ? [] : ["benchTyped"];
  const isTyped = async () => typed.length === 0 || areSet(typed);
  const isDone = () =>
    areSet([
      ...typed,
      "benchPainted",
      ...(marker === undefined ? [] : (["benchMarked"] as const)),
      ...(sends === undefined ? [] : (["benchAcknowledged"] as const)),
    ]);
  while (!(await isTyped())) {
    if (Date.now() > deadline) throw new Error(`${url} accepted no key within ${openingTimeoutMs} ms`);
    if (sends === undefined) await press(cdp, letter);
    else await cdp.send("Input.insertText", { text: sends });
    await page.waitForTimeout(keyEveryMs);
  }
  if (sends !== undefined) await press(cdp, enter);
  while (!(await isDone())) {
    if (Date.now() > deadline) throw new Error(`${url} was not complete within ${openingTimeoutMs} ms`);
    await page.waitForTimeout(keyEveryMs);
  }
  await page.waitForLoadState("load");
  while (!(await isTakenOver()) && Date.now() < deadline) await page.waitForTimeout(keyEveryMs);
  await page.waitForTimeout(restMs);
  const { metrics } = await cdp.send("Performance.getMetrics");
  const mainThread = 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  const opening = await page.evaluate(
    ([selector, sent]) => ({
      painted: window.benchPainted ?? Number.NaN,
      typeable: window.benchTyped ?? Number.NaN,
      markerShown: window.benchMarked,
      acknowledged: window.benchAcknowledged,
      takenOver: window.benchTakenOver,
      shift: window.benchShift ?? 0,
      longTasks: window.benchLongTasks ?? [],
      isKept: sent
        ? [...document.querySelectorAll("li bdi")].filter(({ textContent }) => textContent?.includes(sent)).length === 1
        : !selector || (document.querySelector<HTMLInputElement>(selector)?.value ?? "").includes("7"),
    }),
    [field, sends] as const,
  );
  await page.close();
  return { ...opening, mainThread };
}
