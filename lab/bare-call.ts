import { type Door, openBareDoor } from "./pages/door";
import { origin, type Scene, serverAddress, serverPort } from "./scene";

export type BareOptions = {
  hasVideo?: boolean;
  iceServers?: RTCIceServer[];
  iceTransportPolicy?: RTCIceTransportPolicy;
};

declare global {
  var bare: { join(options: BareOptions & { isCaller: boolean }): Promise<void>; accept(): number };
}

export type BareCall = {
  /** The callee takes the call; when that was. */
  accept(): Promise<number>;
  leave(): Promise<void>;
};

/** A call between two bare pages in the scene, up to where it rings. */
export async function makeBareCall({ sides, server }: Scene, options: BareOptions = {}): Promise<BareCall> {
  const door: Door = await openBareDoor(server, serverAddress, serverPort);
  const [caller, callee] = sides;
  for (const { page } of sides) await page.goto(origin);
  const join = { iceServers: [], iceTransportPolicy: "all", hasVideo: false, ...options } as const;
  await caller.page.evaluate((chosen) => bare.join(chosen), { ...join, isCaller: true });
  await callee.page.evaluate((chosen) => bare.join(chosen), { ...join, isCaller: false });
  return {
    accept: () => callee.page.evaluate(() => bare.accept()),
    async leave() {
      for (const { page } of sides) await page.goto("about:blank");
      door.close();
    },
  };
}
