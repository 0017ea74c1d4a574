import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from "@playwright/test";
import { chromiumFlags, requireChromium } from "#scripts/local/chromium.mjs";
import type { Person } from "./person.ts";

const phoneDevice = {
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
  locale: "fr-FR",
};

/** Slow 3G of the requirements: 400 kbit/s both ways, 400 ms per request, and a processor six times slower. */
const slow3G = { kilobits: 400, latencyMs: 400, cpu: 6 };

export async function launchBrowser(flags: string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: await requireChromium(), args: [...chromiumFlags, ...flags] });
}

/** Browser context of a phone, empty or with `state` (cookies and local storage). */
export function newPhone(
  browser: Browser,
  state?: Awaited<ReturnType<BrowserContext["storageState"]>>,
): Promise<BrowserContext> {
  return browser.newContext({ ...phoneDevice, ...(state && { storageState: state }) });
}

/** Throttles the page's processor, not the network. */
export async function throttleCpu(page: Page, rate = slow3G.cpu): Promise<CDPSession> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate });
  return cdp;
}

export async function emulateSlow3G(page: Page): Promise<CDPSession> {
  const cdp = await throttleCpu(page);
  const bytesPerSecond = (slow3G.kilobits * 1000) / 8;
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: slow3G.latencyMs,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  return cdp;
}

/** Logs a person in through the form and returns the cookies and local storage. */
export async function logIn(browser: Browser, origin: string, person: Person) {
  const context = await newPhone(browser);
  const page = await context.newPage();
  await page.goto(`${origin}/login`);
  await page.locator('input[name="phoneNumber"]').fill(person.phone);
  await page.locator('input[name="password"]').fill(person.password);
  await page.locator('input[name="password"]').press("Enter");
  await page.waitForURL(`${origin}/app`);
  const state = await context.storageState();
  await context.close();
  return state;
}
