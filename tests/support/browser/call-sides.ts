import { fileURLToPath } from "node:url";
import type { Browser, Page } from "@playwright/test";
import { expect } from "@playwright/test";
import { build } from "vite";
import type { CallSideOptions, Received } from "./call-page.ts";

const origin = "https://call.test/";
const timeoutMs = 30_000; // only the arrival is tested, on a machine that may be busy

/** Bundles the media of a call, without the rest of the app, as one script. */
export const bundleCallPage = async (): Promise<string> => {
  const built = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      target: "chrome100",
      rolldownOptions: { input: fileURLToPath(new URL("./call-page.ts", import.meta.url)), output: { format: "iife" } },
    },
  });
  const code = "output" in built ? built.output[0].code : undefined;
  if (code === undefined) throw new Error("the page of a call was not built");
  return code;
};

/** Faults of the signalling server: delay, loss and duplication of signals. */
export type SignalFaults = { delayMs(): number; isLost(): boolean; isDoubled(): boolean };
const good: SignalFaults = { delayMs: () => 5, isLost: () => false, isDoubled: () => false };

export type Side = { page: Page; device: string };

/** Pages in a call with each other. The test is the signalling server between them. */
export class CallSides {
  readonly #browser: Browser;
  readonly #script: string;
  readonly #sides = new Map<string, Side>();
  readonly signals: { from: string; to: string | null; signal: string }[] = [];
  faults: SignalFaults = good;

  constructor(browser: Browser, script: string) {
    this.#browser = browser;
    this.#script = script;
  }

  async open(options: CallSideOptions, isAllowed = true): Promise<Side> {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    const side = { page, device: options.device };
    await page.exposeFunction("post", (from: string, to: string | null, signal: string) =>
      this.#relay(from, to, signal),
    );
    await page.route(`${origin}**`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<!doctype html><body>" }),
    );
    await this.load(side, options, isAllowed);
    this.#sides.set(options.device, side);
    return side;
  }

  /** Loads or reloads the page of a side. */
  async load({ page }: Side, options: CallSideOptions, isAllowed = true): Promise<void> {
    await page.goto(origin);
    if (!isAllowed) {
      await page.evaluate(() => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
      });
    }
    await page.addScriptTag({ content: this.#script });
    await page.evaluate((options) => {
      window.side = window.makeSide(options);
    }, options);
  }

  async close(): Promise<void> {
    for (const { page } of this.#sides.values()) await page.context().close();
    this.#sides.clear();
  }

  #relay(from: string, to: string | null, signal: string): void {
    this.signals.push({ from, to, signal });
    if (this.faults.isLost()) return;
    for (let copies = this.faults.isDoubled() ? 2 : 1; copies > 0; copies--) {
      setTimeout(() => this.#deliver(from, to, signal), this.faults.delayMs());
    }
  }

  #deliver(from: string, to: string | null, signal: string): void {
    for (const { device, page } of this.#sides.values()) {
      if (device === from || (to !== null && to !== device)) continue;
      // A page that is being loaded receives nothing.
      page
        .evaluate(([from, signal]) => window.side?.plane.receiveSignal(from, signal), [from, signal] as const)
        .catch(() => undefined);
    }
  }
}

export const readStates = ({ page }: Side): Promise<string[]> => page.evaluate(() => window.side.states());
export const readReceived = ({ page }: Side): Promise<Received> => page.evaluate(() => window.side.heard());
export const readView = ({ page }: Side) => page.evaluate(() => window.side.view());
export const readEvents = ({ page }: Side) => page.evaluate(() => window.side.said());
export const readActiveMs = ({ page }: Side) => page.evaluate(() => window.side.lived());

export const waitForConnected = async (side: Side): Promise<void> => {
  await expect.poll(() => readStates(side), { intervals: [30], timeout: timeoutMs }).toEqual(["connected"]);
};

/** Waits until more of the other side's voice arrives. */
export const waitForHearing = async (side: Side): Promise<void> => {
  const before = await readReceived(side);
  await expect
    .poll(
      async () => {
        const now = await readReceived(side);
        // A new peer connection counts from zero.
        const since = now.samples < before.samples ? { energy: 0, packets: 0 } : before;
        return now.energy > since.energy + 0.01 && now.packets > since.packets;
      },
      { intervals: [100], timeout: timeoutMs },
    )
    .toBe(true);
};
