import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { WebSocket } from "ws";
import { makeFolder, removeFolder } from "#lab/folder.ts";
import type { NetworkNode } from "#lab/network/network.ts";
import { runGateway } from "#lab/pages/gateway.ts";
import { requireProgram } from "./debian.ts";

const remotePort = 9_371;
const startMs = 40_000;
const answerMs = 60_000;

/** Fake camera and microphone with permission granted, and no background connections. */
const preferences: Record<string, boolean | number | string> = {
  "media.navigator.streams.fake": true,
  "media.navigator.permission.disabled": true,
  "media.autoplay.default": 0,
  "media.peerconnection.ice.obfuscate_host_addresses": false,
  "remote.prefs.recommended": true,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "toolkit.telemetry.reportingpolicy.firstRun": false,
  "app.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "intl.accept_languages": "fr-FR",
};

type BidiReply = { id: number; type: "success" | "error"; result: Record<string, unknown>; message?: string };

/** One page of Debian's Firefox, driven by WebDriver BiDi (w3c.github.io/webdriver-bidi). */
export class Firefox {
  private readonly socket: WebSocket;
  private readonly killProcess: () => void;
  private readonly pendingCommands = new Map<number, (answer: BidiReply) => void>();
  private context = "";
  private count = 0;

  private constructor(socket: WebSocket, end: () => void) {
    this.socket = socket;
    this.killProcess = end;
    socket.on("message", (data) => {
      const answer = JSON.parse(String(data)) as BidiReply;
      this.pendingCommands.get(answer.id)?.(answer);
      this.pendingCommands.delete(answer.id);
    });
  }

  /** `script` runs in every page before its own scripts. */
  static async open(end: NetworkNode, script: string): Promise<Firefox> {
    const { path, env } = requireProgram("firefox-esr", {
      package: "firefox-esr",
      path: "usr/lib/firefox-esr/firefox-esr",
    });
    const folder = makeFolder();
    const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`);
    writeFileSync(join(folder, "user.js"), lines.join("\n"));
    const words = ["--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", String(remotePort)];
    const child = end.namespace.spawn(path, [...words, "about:blank"], {
      ...env,
      HOME: folder,
      MOZ_DISABLE_AUTO_SAFE_MODE: "1",
    });
    const finish = () => {
      child.once("exit", () => removeFolder(folder));
      child.kill("SIGKILL");
    };
    let log = "";
    try {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`Firefox did not start\n${log}`)), startMs);
        const read = (chunk: Buffer) => {
          log += chunk.toString();
          if (!log.includes("WebDriver BiDi listening")) return;
          clearTimeout(timer);
          resolve();
        };
        child.stdout.on("data", read);
        child.stderr.on("data", read);
        child.once("exit", () => reject(new Error(`Firefox ended\n${log}`)));
      });
      const door = join(folder, "remote");
      await runGateway(end, door, `127.0.0.1:${remotePort}`);
      const socket = new WebSocket(`ws+unix:${door}:/session`, { headers: { host: `127.0.0.1:${remotePort}` } });
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
      const firefox = new Firefox(socket, finish);
      await firefox.sendCommand("session.new", { capabilities: {} });
      await firefox.sendCommand("script.addPreloadScript", { functionDeclaration: `() => { ${script} }` });
      const { context } = await firefox.sendCommand("browsingContext.create", { type: "tab" });
      firefox.context = String(context);
      return firefox;
    } catch (error) {
      finish();
      throw error;
    }
  }

  async goto(url: string): Promise<void> {
    await this.sendCommand("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  /** Like Playwright's `evaluate`, for JSON values. */
  readonly evaluate = (async (script: (argument: unknown) => unknown, argument?: unknown) => {
    const expression = `(async () => JSON.stringify(await (${script.toString()})(${JSON.stringify(argument ?? null)})))()`;
    const answer = await this.sendCommand("script.evaluate", {
      expression,
      target: { context: this.context },
      awaitPromise: true,
      userActivation: true,
    });
    if (answer["type"] !== "success") throw new Error(`In Firefox: ${JSON.stringify(answer["exceptionDetails"])}`);
    const { value } = answer["result"] as { value?: string };
    return value === undefined ? undefined : (JSON.parse(value) as unknown);
  }) as Page["evaluate"];

  close(): void {
    this.socket.terminate();
    this.killProcess();
  }

  private async sendCommand(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.count;
    const answer = await new Promise<BidiReply>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Firefox: no answer to ${method}`)), answerMs);
      this.pendingCommands.set(id, (answered) => {
        clearTimeout(timer);
        resolve(answered);
      });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
    if (answer.type === "error") throw new Error(`Firefox: ${method}: ${answer.message}`);
    return answer.result;
  }
}
