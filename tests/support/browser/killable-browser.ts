import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "@playwright/test";
import { chromiumFlags, findQuickChromium } from "#scripts/local/chromium.mjs";

const startMs = 60_000; // on a machine that also starts servers and other browsers

/** Processes left over from a test that was aborted. */
const running = new Set<KillableBrowser>();
process.on("exit", () => {
  for (const browser of running) browser.killNow();
});

/** Chromium in its own process with a profile on disk. It can be killed like a phone whose battery is empty. */
export class KillableBrowser {
  readonly #profile = mkdtempSync(join(tmpdir(), "lisolo-browser-"));
  #process: ChildProcess | undefined;
  #browser: Browser | undefined;

  async start(): Promise<BrowserContext> {
    const executable = await findQuickChromium();
    if (!executable) throw new Error("no Chromium");
    const portFile = join(this.#profile, "DevToolsActivePort");
    rmSync(portFile, { force: true });
    // Own process group, so that the renderers are killed with the browser.
    this.#process = spawn(
      executable,
      [
        ...chromiumFlags,
        "--headless",
        "--lang=fr-FR",
        "--no-startup-window", // Playwright can wait forever for a first window that is just being opened
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

  /** Quits the browser normally, so that cookies and other data that it writes late are on disk. */
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

  /** Kills the whole browser with SIGKILL: nothing is flushed and nothing is notified. */
  async kill(): Promise<void> {
    const killed = this.#process;
    if (!killed) return;
    const ended = new Promise<void>((resolve) => killed.once("exit", () => resolve()));
    this.killNow();
    await ended;
    await this.#noticeEnd();
  }

  /**
   * Playwright asks contexts that it believes to be alive for its trace, and fails the test when they do not answer.
   */
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
