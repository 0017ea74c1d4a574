import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { DevTools } from "#bench/rig/devtools.ts";
import type { Person } from "#bench/rig/person.ts";
import { chromiumFlags, requireChromium } from "#scripts/local/chromium.mjs";
import { textsOf } from "#tests/support/browser/test-client.ts";
import type { PushKeys } from "#worker/lib/push/encryption.ts";

const startTimeoutMs = 60_000;
const stoppingMs = 500; // from DevTools' answer until a service worker has ended
const runMs = 2; // of a slowed browser, before it stands still

export type Subscription = PushKeys & { endpoint: string };

/**
 * Chromium with a profile on disk, as push needs it, in a process group of its own, which can be slowed down. Pages are
 * driven by Playwright only during `withPages`, so that no DevTools are attached to the measured service workers.
 */
export class PushPhone {
  readonly #profile: string;
  readonly #process: ChildProcess;
  readonly #devTools: DevTools;
  readonly #port: string;
  #origins: string[] = [];
  #session = "";

  private constructor(profile: string, process: ChildProcess, port: string, devTools: DevTools) {
    this.#profile = profile;
    this.#process = process;
    this.#port = port;
    this.#devTools = devTools;
  }

  static async start(flags: readonly string[]): Promise<PushPhone> {
    const profile = mkdtempSync(join(tmpdir(), "lisolo-bench-phone-"));
    const args = ["--headless", "--accept-lang=fr-FR", "--password-store=basic", "--remote-debugging-port=0"];
    const child = spawn(
      await requireChromium(),
      [...chromiumFlags, ...flags, ...args, `--user-data-dir=${profile}`, "about:blank"],
      { detached: true, stdio: "ignore" },
    );
    process.once("exit", () => killGroup(child));
    const portFile = join(profile, "DevToolsActivePort");
    const deadline = Date.now() + startTimeoutMs;
    while (!existsSync(portFile) || !readFileSync(portFile, "utf8").includes("\n")) {
      if (Date.now() > deadline || child.exitCode !== null) throw new Error("Chromium did not start");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const port = readFileSync(portFile, "utf8").split("\n")[0] ?? "";
    return new PushPhone(profile, child, port, await DevTools.connect(port));
  }

  /** Opens pages of these origins, which may show notifications, and closes them. */
  async withPages<T>(origins: readonly string[], use: (context: BrowserContext) => Promise<T>): Promise<T> {
    this.#origins.push(...origins);
    await this.#grantNotifications();
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${this.#port}`);
    try {
      const [context] = browser.contexts();
      if (!context) throw new Error("Chromium has no window");
      const result = await use(context);
      for (const page of context.pages()) await page.goto("about:blank");
      return result;
    } finally {
      await browser.close(); // ends the connection only
      await this.#grantNotifications();
    }
  }

  /** Stops all service workers, as the browser does after half a minute without an event. */
  async stopWorkers(): Promise<void> {
    if (this.#session === "") {
      const { targetInfos } = await this.#devTools.send<{ targetInfos: { targetId: string; type: string }[] }>(
        "Target.getTargets",
      );
      const targetId = targetInfos.find(({ type }) => type === "page")?.targetId;
      const attached = await this.#devTools.send<{ sessionId: string }>("Target.attachToTarget", {
        targetId,
        flatten: true,
      });
      this.#session = attached.sessionId;
      await this.#devTools.send("ServiceWorker.enable", {}, this.#session);
    }
    await this.#devTools.send("ServiceWorker.stopAllWorkers", {}, this.#session);
    await new Promise((resolve) => setTimeout(resolve, stoppingMs));
  }

  /** Gives the whole browser a fraction of its processor time while `work` runs. A factor of 1 changes nothing. */
  async slowDown<T>(factor: number, work: () => Promise<T>): Promise<T> {
    if (factor === 1) return work();
    const script = new URL("../rig/duty-cycle.mjs", import.meta.url);
    const values = [this.#process.pid, runMs, runMs * (factor - 1)].map(String);
    const cycle = fork(script, values, { stdio: "ignore" });
    await once(cycle, "message");
    try {
      return await work();
    } finally {
      const ended = once(cycle, "exit");
      cycle.kill("SIGKILL");
      await ended;
      process.kill(-(this.#process.pid ?? 0), "SIGCONT");
    }
  }

  async stop(): Promise<void> {
    this.#devTools.close();
    const ended = once(this.#process, "exit");
    killGroup(this.#process);
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  /** A permission ends with the DevTools connection that granted it, and another one that ends resets it. */
  async #grantNotifications(): Promise<void> {
    for (const origin of this.#origins)
      await this.#devTools.send("Browser.grantPermissions", { origin, permissions: ["notifications"] });
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, "SIGKILL");
}

/** Subscribes the service worker of the floor. */
export const subscribeBareWorker = async (page: Page, origin: string): Promise<Subscription> => {
  await page.goto(origin);
  return page.evaluate(async () => {
    await navigator.serviceWorker.register("/sw.js");
    const { pushManager } = await navigator.serviceWorker.ready;
    const curve = { name: "ECDSA", namedCurve: "P-256" };
    const { publicKey } = await crypto.subtle.generateKey(curve, true, ["sign"]);
    const applicationServerKey = await crypto.subtle.exportKey("raw", publicKey);
    const { endpoint, keys } = (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })).toJSON();
    if (!endpoint || !keys?.["p256dh"] || !keys["auth"]) throw new Error("the subscription has no keys");
    return { endpoint, p256dh: keys["p256dh"], auth: keys["auth"] };
  });
};

/** Signs a person in and turns their notifications on, as they would. */
export const subscribeProduct = async (page: Page, origin: string, person: Person): Promise<Subscription> => {
  await page.goto(`${origin}/login`);
  await page.locator('input[name="phoneNumber"]').fill(person.phone);
  await page.locator('input[name="password"]').fill(person.password);
  await page.locator('input[name="password"]').press("Enter");
  await page.waitForURL(`${origin}/app`);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.goto(`${origin}/app/notifications`);
  const saved = page.waitForRequest(
    (request) => request.method() === "PUT" && request.url().endsWith("/api/push/subscription"),
  );
  await page.getByRole("switch", { name: textsOf.fr.settings.push.label, exact: false }).click();
  const request = await saved;
  const response = await request.response();
  if (response?.status() !== 204) throw new Error(`The subscription was not saved: ${response?.status()}`);
  await page.getByRole("button", { name: textsOf.fr.settings.push.test }).waitFor();
  return request.postDataJSON() as Subscription;
};
