import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import type { Language } from "#contract/language.ts";
import type { PushPayload } from "#contract/push.ts";
import { notificationLockName } from "#lib/browser/push/notification-lock.ts";
import { chromiumFlags, findChromium } from "#scripts/local/chromium.mjs";
import { test as base } from "#tests/support/browser/closing-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { cheapWork, type Server, startServer } from "#tests/support/server/server.ts";
import { encryptPush } from "#worker/lib/push/encryption.ts";
import { LocalPushService } from "./push-service.ts";

export { expect } from "#tests/support/browser/closing-test.ts";

export type ShownNotification = { title: string; body: string; tag: string };
type SavedSubscription = { endpoint: string; p256dh: string; auth: string; key: string };

/** Browser of one person with a profile on disk: only such a one has push, and only the full Chromium shows notifications. */
export class PushBrowser {
  readonly #profile = mkdtempSync(join(tmpdir(), "lisolo-push-browser-"));
  readonly #service: LocalPushService;
  readonly #server: Server;
  #context: BrowserContext | undefined;
  /** Subscriptions that pages and the service worker saved on the server. */
  readonly saved: SavedSubscription[] = [];

  constructor(service: LocalPushService, server: Server) {
    this.#service = service;
    this.#server = server;
  }

  async open({ permission = true, language = "fr" as Language } = {}): Promise<TestClient> {
    const executablePath = await findChromium();
    const context = await chromium.launchPersistentContext(this.#profile, {
      ...(executablePath && { executablePath }),
      args: [...chromiumFlags, ...this.#service.flags],
      serviceWorkers: "allow",
      baseURL: this.#server.origin,
      locale: "fr-FR",
      timezoneId: "Africa/Kinshasa",
      viewport: { width: 360, height: 740 },
    });
    this.#context = context;
    if (permission)
      await context.grantPermissions(["notifications", "background-sync"], { origin: this.#server.origin });
    context.on("request", (request) => {
      if (request.method() !== "PUT" || !request.url().endsWith("/api/push/subscription")) return;
      this.saved.push(request.postDataJSON() as SavedSubscription);
    });
    return TestClient.openIn(context, this.#server, language);
  }

  /** Page of this origin without the app's scripts. */
  async openBarePage(): Promise<Page> {
    if (!this.#context) throw new Error("the browser is not open");
    const page = await this.#context.newPage();
    await page.goto(`${this.#server.origin}/favicon.svg`);
    return page;
  }

  /** Sends a push to the newest saved subscription, encrypted as the Worker does. Returns the service's status. */
  async push(payload: PushPayload | string): Promise<number> {
    const subscription = this.saved.at(-1);
    if (!subscription) throw new Error("nothing is subscribed");
    const text = typeof payload === "string" ? payload : JSON.stringify(payload);
    const body = Buffer.from(await encryptPush(subscription, text));
    return this.#service.repeat({ path: new URL(subscription.endpoint).pathname, body });
  }

  /** Quits the browser; `open` starts it again with the same profile. */
  async quit(): Promise<void> {
    await this.#context?.close();
    this.#context = undefined;
  }

  async close(): Promise<void> {
    await this.quit();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Shown notifications of this origin, listed under the lock of the app's own code. */
export const listNotifications = (page: Page): Promise<ShownNotification[]> =>
  page.evaluate(
    (lock) =>
      navigator.locks.request(lock, async () => {
        const registration = await navigator.serviceWorker.getRegistration();
        const shown = (await registration?.getNotifications()) ?? [];
        return shown.map(({ title, body, tag }) => ({ title, body, tag }));
      }),
    notificationLockName,
  );

/** Playwright's `test` with a push service that the Worker and the browsers use. */
export const test = base.extend<{ makePushBrowser: () => PushBrowser }, { service: LocalPushService; server: Server }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern.
    async ({}, use) => {
      const service = await LocalPushService.start();
      await use(service);
      await service.stop();
    },
    { scope: "worker" },
  ],
  server: [
    async ({ service }, use) => {
      const server = await startServer({ vars: { ...cheapWork, PUSH_RELAY: service.relay } });
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  makePushBrowser: async ({ service, server }, use) => {
    const browsers: PushBrowser[] = [];
    await use(() => {
      const browser = new PushBrowser(service, server);
      browsers.push(browser);
      return browser;
    });
    for (const browser of browsers) await browser.close();
    service.failure = undefined;
  },
});
