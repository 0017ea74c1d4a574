import type { Page } from "@playwright/test";
import { openBaselineGateway } from "./pages/gateway.ts";
import { type CallOptions, type LabCall, origin, type Scene, serverAddress, serverPort } from "./scene.ts";

type BaselineOptions = {
  isCaller: boolean;
  hasVideo: boolean;
  iceServers: RTCIceServer[];
  iceTransportPolicy: RTCIceTransportPolicy;
};
declare global {
  var baseline: { join(options: BaselineOptions): Promise<void>; accept(): number };
}

/** Prepares a call between two baseline pages; nothing connects before it is accepted. */
export async function ringBaseline(scene: Scene, { hasVideo, relay }: CallOptions): Promise<LabCall> {
  const { sides, server } = scene;
  const door = await openBaselineGateway(server, serverAddress, serverPort);
  const contexts = [await sides[0].open(), await sides[1].open()] as const;
  const pages: [Page, Page] = [await contexts[0].newPage(), await contexts[1].newPage()];
  for (const [n, page] of pages.entries()) {
    const options: BaselineOptions = {
      isCaller: n === 0,
      hasVideo: hasVideo ?? false,
      iceServers: relay ? relay.iceServers() : [],
      iceTransportPolicy: relay ? "relay" : "all",
    };
    await page.goto(origin);
    await page.evaluate((chosen) => baseline.join(chosen), options);
  }
  return {
    pages,
    ring: () => Promise.resolve(),
    accept: () => pages[1].evaluate(() => baseline.accept()),
    async end() {
      for (const context of contexts) await context.close();
      door.close();
    },
  };
}
