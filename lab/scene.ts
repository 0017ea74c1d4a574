import { type Browser, type BrowserContext, chromium, type Page } from "@playwright/test";
import { chromiumFlags, requireChromium } from "#scripts/local/chromium.mjs";
import { makeMicrophoneFiles } from "./microphone-files.ts";
import { Network, type NetworkNode, type Shape, type TrafficByLink } from "./network/network.ts";
import { watchPages } from "./pages/watch.ts";
import type { Certificate } from "./programs/certificate.ts";
import type { Relay } from "./programs/coturn.ts";

export const serverAddress = "10.77.0.1";
/** What pages are served from: by this name they are as trusted as over TLS. */
export const serverPort = 9_370;
/** A relay that speaks TLS is a machine of its own: it may not share a port with what else is on 443. */
export const relayAddress = "10.77.9.1";
export const origin = `http://localhost:${serverPort}`;

export type CallOptions = {
  hasVideo?: boolean;
  /** Where there is one, nothing goes another way. */
  relay?: Relay | undefined;
};
/** A call in a scene, the product's or that of two bare pages, so that both are driven and measured alike. */
export type LabCall = {
  pages: [caller: Page, callee: Page];
  /** It rings, and has done so for long enough that whatever is made ready meanwhile is. */
  ring(): Promise<void>;
  /** The callee takes it; when that was. */
  accept(): Promise<number>;
  end(): Promise<void>;
};
export type MakeCall = (scene: Scene, options: CallOptions) => Promise<LabCall>;

type LabSide = {
  node: NetworkNode;
  browser: Browser;
  /** A browser that has never been anywhere, whose pages are watched. */
  open(): Promise<BrowserContext>;
};
export type Scene = {
  network: Network;
  server: NetworkNode;
  /** Who calls, and who is called, each on a machine of their own with wifi, and a mobile link not yet in use. */
  sides: [LabSide, LabSide];
  /** The same for the links of all three, so that between any two ends it happens twice. */
  shapeAll(shape: Shape): Promise<void>;
  /** The same for both people's links, whichever they use; the server's stays as it is. */
  shapeSides(shape: Shape): Promise<TrafficByLink>;
  stop(): Promise<void>;
};

/** A browser on a machine of the laboratory's network, whose microphone says what is in a file. */
async function openSide(end: NetworkNode, wav: string, trusted?: Certificate): Promise<LabSide> {
  const browser = await chromium.launch({
    executablePath: end.namespace.createLauncher(await requireChromium()),
    args: [
      ...chromiumFlags,
      `--use-file-for-fake-audio-capture=${wav}`,
      "--autoplay-policy=no-user-gesture-required",
      "--disable-features=WebRtcHideLocalIpsWithMdns",
      `--host-resolver-rules=MAP localhost ${serverAddress}`,
      ...(trusted ? [`--ignore-certificate-errors-spki-list=${trusted.keyHash}`] : []),
    ],
  });
  const open = async () => {
    const context = await browser.newContext({ locale: "fr-FR", viewport: { width: 400, height: 800 } });
    await watchPages(context);
    return context;
  };
  return { node: end, browser, open };
}

/** They talk for all of the time or for half of it, and take a certificate of nobody's for good. */
export async function openScene(talks: "always" | "half" = "always", trusted?: Certificate): Promise<Scene> {
  const network = await Network.start();
  const talkers = makeMicrophoneFiles();
  const opened: LabSide[] = [];
  const stop = async () => {
    await Promise.all(opened.map(({ browser }) => browser.close()));
    await network.stop();
    talkers.remove();
  };
  try {
    const server = await network.addNode("server", { wire: serverAddress });
    for (const [n, name] of ["caller", "callee"].entries()) {
      const end = await network.addNode(name, { wifi: `10.77.${n + 1}.2`, mobile: `10.77.${n + 3}.2` });
      opened.push(await openSide(end, talkers[talks], trusted));
    }
    const [caller, callee] = opened;
    if (!caller || !callee) throw new Error("nobody is there");
    const shapeSides = async (shape: Shape) => {
      for (const { node } of [caller, callee]) {
        await node.shape("wifi", shape);
        await node.shape("mobile", shape);
      }
      return network.readTraffic();
    };
    const shapeAll = async (shape: Shape) => {
      await server.shape("wire", { ...shape, rate: 0 });
      await shapeSides(shape);
    };
    return { network, server, sides: [caller, callee], shapeAll, shapeSides, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
