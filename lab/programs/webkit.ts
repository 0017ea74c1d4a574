import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { makeFolder, removeFolder } from "#lab/folder.ts";
import type { NetworkNode } from "#lab/network/network.ts";
import { runGateway } from "#lab/pages/gateway.ts";
import type { Certificate } from "./certificate.ts";
import { findOnPath } from "./debian.ts";

const driverPort = 9_373;
const startMs = 40_000;
const scriptMs = 5_000; // a script of a page that is being left never answers
const trustedCertificates = "/etc/ssl/certs/ca-certificates.crt";

/** Debian's small browser of WebKitGTK. It expects its helper programs where the package installs them. */
const findMiniBrowser = (): string | undefined =>
  readdirSync("/usr/lib")
    .map((folder) => join("/usr/lib", folder, "webkit2gtk-4.1", "MiniBrowser"))
    .find((path) => existsSync(path));

type DriverReply = { value: unknown };

/**
 * One page of WebKitGTK, driven by WebDriver (w3.org/TR/webdriver2). Its storage is that of a private window: it is empty
 * at the start and takes no Blobs.
 */
export class WebKit {
  private readonly door: string;
  private readonly finish: () => void;
  private session = "";

  private constructor(door: string, finish: () => void) {
    this.door = door;
    this.finish = finish;
  }

  /** Starts the browser on a network node. It trusts the certificate of its server. */
  static async open(end: NetworkNode, certificate: Certificate): Promise<WebKit> {
    const browser = findMiniBrowser();
    const [driver, display] = [findOnPath("WebKitWebDriver"), findOnPath("Xvfb")];
    if (!browser || !driver || !display)
      throw new Error("WebKit is missing: apt-get install --yes webkit2gtk-driver xvfb");
    const folder = makeFolder();
    const screen = end.namespace.spawn(display, ["-displayfd", "1", "-screen", "0", "1100x900x24"]);
    const finishScreen = () => screen.kill("SIGKILL");
    const number = await readFirstLine(screen, "the virtual screen");
    // The system's list of certificates is replaced in a mount namespace of the driver and its children alone.
    const list = join(folder, "certificates.pem");
    writeFileSync(list, readFileSync(trustedCertificates, "utf8") + readFileSync(certificate.path, "utf8"));
    const start = `mount --bind ${list} ${trustedCertificates} && exec ${driver} --host=127.0.0.1 --port=${driverPort}`;
    const child = end.namespace.spawn("unshare", ["--mount", "sh", "-c", start], {
      ...process.env,
      DISPLAY: `:${number}`,
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      LIBGL_ALWAYS_SOFTWARE: "1",
    });
    child.stdout.resume();
    child.stderr.resume();
    child.once("exit", () => removeFolder(folder));
    const finish = () => {
      child.kill("SIGKILL");
      finishScreen();
    };
    try {
      const door = join(folder, "driver");
      await runGateway(end, door, `127.0.0.1:${driverPort}`);
      const webkit = new WebKit(door, finish);
      await webkit.startSession(browser);
      return webkit;
    } catch (error) {
      finish();
      throw error;
    }
  }

  goto(url: string): Promise<unknown> {
    return this.send("POST", "/url", { url });
  }

  reload(): Promise<unknown> {
    return this.send("POST", "/refresh", {});
  }

  /** Like Playwright's `evaluate`, for JSON values. */
  readonly evaluate = (async (script: (argument: unknown) => unknown, argument?: unknown) => {
    const body = `const [argument, done] = arguments;
      Promise.resolve(argument).then(${script.toString()}).then(
        (value) => done(JSON.stringify({ value })), (error) => done(JSON.stringify({ error: String(error) })));`;
    const answer = await this.send("POST", "/execute/async", { script: body, args: [argument ?? null] });
    const { value, error } = JSON.parse(String(answer)) as { value?: unknown; error?: string };
    if (error !== undefined) throw new Error(`In WebKit: ${error}`);
    return value;
  }) as Page["evaluate"];

  /** Types into a field as a keyboard does, or gives a file field the path of a file. */
  async type(selector: string, text: string): Promise<void> {
    await this.send("POST", `/element/${await this.findElement(selector)}/value`, { text });
  }

  async click(selector: string): Promise<void> {
    await this.send("POST", `/element/${await this.findElement(selector)}/click`, {});
  }

  close(): void {
    this.finish();
  }

  private async startSession(browser: string): Promise<void> {
    const options = { binary: browser, args: ["--automation"] };
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": options, timeouts: { script: scriptMs } } };
    const deadline = Date.now() + startMs;
    for (;;) {
      try {
        const { sessionId } = (await this.call("POST", "/session", { capabilities })) as { sessionId: string };
        this.session = sessionId;
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 300)); // the driver does not listen yet
      }
    }
  }

  private async findElement(selector: string): Promise<string> {
    const element = await this.send("POST", "/element", { using: "css selector", value: selector });
    return String(Object.values(element as object)[0]);
  }

  private send(method: string, path: string, body: object): Promise<unknown> {
    return this.call(method, `/session/${this.session}${path}`, body);
  }

  private async call(method: string, path: string, body: object): Promise<unknown> {
    const text = JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const [status, answer] = await new Promise<[number, string]>((resolve, reject) => {
      const outgoing = request({ socketPath: this.door, method, path, headers }, (reply) => {
        let received = "";
        reply.on("data", (chunk: Buffer) => {
          received += chunk.toString();
        });
        reply.on("end", () => resolve([reply.statusCode ?? 0, received]));
      });
      outgoing.on("error", reject).end(text);
    });
    const { value } = JSON.parse(answer) as DriverReply;
    if (status !== 200) throw new Error(`WebKit: ${method} ${path}: ${JSON.stringify(value).slice(0, 300)}`);
    return value;
  }
}

/** First line of a program's output. Rejects if the program ends before. */
const readFirstLine = (child: ReturnType<NetworkNode["namespace"]["spawn"]>, what: string): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once("exit", () => reject(new Error(`Cannot start ${what}`)));
  });
