import { type Browser, type BrowserContext, chromium, type Page } from "@playwright/test";
import { chromiumFlags, requireChromium } from "#scripts/local/chromium.mjs";
import { makeMicrophoneFiles } from "./microphone-files.ts";
import { Network, type NetworkNode, type Shape, type TrafficByLink } from "./network/network.ts";
import { watchPages } from "./pages/watch.ts";
import type { Certificate } from "./programs/certificate.ts";
import type { Relay } from "./programs/coturn.ts";

export const serverAddress = "10.77.0.1";
/** Port of the pages. The host name localhost makes them as trusted as over TLS. */
export const serverPort = 9_370;
/** A relay with TLS is a node of its own, because port 443 may be in use on the server's. */
export const relayAddress = "10.77.9.1";
export const origin = `http://localhost:${serverPort}`;

export type CallOptions = {
  hasVideo?: boolean;
  /** With a relay all media goes through it. */
  relay?: Relay | undefined;
};
/** Call in a scene, of the product or of two baseline pages, with one interface for both. */
export type LabCall = {
  pages: [caller: Page, callee: Page];
  /** Resolves when the call has been ringing long enough for all preparations to be complete. */
  ring(): Promise<void>;
  /** Accepts as the callee; returns the time. */
  accept(): Promise<number>;
  end(): Promise<void>;
};
export type MakeCall = (scene: Scene, options: CallOptions) => Promise<LabCall>;

type LabSide = {
  node: NetworkNode;
  browser: Browser;
  /** New browser context whose pages are watched. */
  open(): Promise<BrowserContext>;
};
export type Scene = {
  network: Network;
  server: NetworkNode;
  /** Caller and callee, each on a node of its own with wifi and an unused mobile link. */
  sides: [LabSide, LabSide];
  /** Applies the conditions to the links of all three nodes, so that they apply twice between any two. */
  shapeAll(shape: Shape): Promise<void>;
  /** Applies the conditions to all links of both people; the server's link stays unchanged. */
  shapeSides(shape: Shape): Promise<TrafficByLink>;
  stop(): Promise<void>;
};

/** Starts a browser on a network node, with a file as its microphone. */
async function openSide(node: NetworkNode, wav: string, trusted?: Certificate): Promise<LabSide> {
  const browser = await chromium.launch({
    executablePath: node.namespace.createLauncher(await requireChromium()),
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
  return { node, browser, open };
}

/** Both people talk all the time or half of it, and accept the given self-signed certificate. */
export async function openScene(speech: "always" | "half" = "always", trusted?: Certificate): Promise<Scene> {
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
      opened.push(await openSide(end, talkers[speech], trusted));
    }
    const [caller, callee] = opened;
    if (!caller || !callee) throw new Error("Caller or callee is missing");
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
