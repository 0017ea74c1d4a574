import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "@playwright/test";
import { chromiumFlags, findQuickChromium } from "#scripts/local/chromium.mjs";

const startMs = 60_000; // on a machine that starts servers and other browsers besides

/** Left over when a test is cut off in the middle. */
const running = new Set<MortalBrowser>();
process.on("exit", () => {
  for (const browser of running) browser.killNow();
});

/** A Chromium of its own process with a profile on disk, that can be killed like a phone whose battery is out. */
export class MortalBrowser {
  readonly #profile = mkdtempSync(join(tmpdir(), "lisolo-browser-"));
  #process: ChildProcess | undefined;
  #browser: Browser | undefined;

  async start(): Promise<BrowserContext> {
    const executable = await findQuickChromium();
    if (!executable) throw new Error("no Chromium");
    const portFile = join(this.#profile, "DevToolsActivePort");
    rmSync(portFile, { force: true });
    // A process group of its own, so that its renderers die with it.
    this.#process = spawn(
      executable,
      [
        ...chromiumFlags,
        "--headless",
        "--lang=fr-FR",
        "--no-startup-window", // Playwright can wait for ever for a first window that is just being opened
        "--remote-debugging-port=0",
        `--user-data-dir=${this.#profile}`,
      ],
      { detached: true, stdio: "ignore" },
    );
    running.add(this);
    const deadline = Date.now() + startMs;
    while (!existsSync(portFile) || !readFileSync(portFile, "utf8").includes("\n")) {
      if (Date.now() > deadline) throw new Error("Chromium did not start");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const port = readFileSync(portFile, "utf8").split("\n")[0];
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    this.#browser = browser;
    const context = browser.contexts()[0];
    if (!context) throw new Error("Chromium has no window");
    return context;
  }

  /** Ended by its menu: cookies and the like, which a browser writes down only now and then, are on disk. */
  async quit(): Promise<void> {
    const ending = this.#process;
    const ended = new Promise<void>((resolve) => ending?.once("exit", () => resolve()));
    const session = await this.#browser?.newBrowserCDPSession();
    await session?.send("Browser.close");
    await ended;
    await this.#noticeEnd();
    this.#process = undefined;
    running.delete(this);
  }

  /** SIGKILL to the whole browser: nothing is flushed, nothing is told. */
  async kill(): Promise<void> {
    const killed = this.#process;
    if (!killed) return;
    const ended = new Promise<void>((resolve) => killed.once("exit", () => resolve()));
    this.killNow();
    await ended;
    await this.#noticeEnd();
  }

  /** Playwright asks what it believes to be alive for its trace, and fails the test when nothing answers. */
  async #noticeEnd(): Promise<void> {
    const browser = this.#browser;
    if (browser?.isConnected()) await new Promise<void>((resolve) => browser.once("disconnected", () => resolve()));
  }

  killNow(): void {
    const pid = this.#process?.pid;
    this.#process = undefined;
    running.delete(this);
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
