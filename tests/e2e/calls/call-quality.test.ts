import type { Browser } from "@playwright/test";
import type { CallSideOptions } from "#tests/support/browser/call-page.ts";
import { bundleCallPage, CallSides, type Side, waitForHearing } from "#tests/support/browser/call-sides.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";

test.use({
  launchOptions: async ({ launchOptions }, use) => {
    const args = ["--autoplay-policy=no-user-gesture-required", "--disable-features=WebRtcHideLocalIpsWithMdns"];
    await use({ ...launchOptions, args: [...(launchOptions.args ?? []), ...args] });
  },
});

declare global {
  interface Window {
    /** Link statistics reported to a page instead of the real ones. */
    link: { loss?: number; estimate?: number };
  }
}

/** Five seconds of a link pass in one: each check happens in a fifth of the time. */
const hastenAndPretend = () => {
  const every = window.setInterval.bind(window);
  window.setInterval = ((run: () => void, ms: number) => every(run, ms / 5)) as typeof window.setInterval;
  window.link = { loss: 0, estimate: 300_000 }; // independent of a busy machine
  const read = RTCPeerConnection.prototype.getStats;
  RTCPeerConnection.prototype.getStats = async function () {
    const fakeStats = new Map<string, object>();
    for (const [id, entry] of await read.call(this)) {
      const { loss, estimate } = window.link;
      if (entry.type === "remote-inbound-rtp" && loss !== undefined)
        fakeStats.set(id, { ...entry, fractionLost: loss });
      else if (entry.type === "candidate-pair" && estimate !== undefined)
        fakeStats.set(id, { ...entry, availableOutgoingBitrate: estimate });
      else fakeStats.set(id, entry);
    }
    return fakeStats;
  };
};

const aline: CallSideOptions = { device: "a", isPolite: false, isCaller: true, kind: "audio" };
const joel: CallSideOptions = { device: "b", isPolite: true, isCaller: false, kind: "audio" };

/** Bytes and packets of voice sent by this side, and its present bitrate limit. */
const sentBy = ({ page }: Side) =>
  page.evaluate(async () => {
    const voices = (await window.side.stats()).filter(({ type, kind }) => type === "outbound-rtp" && kind === "audio");
    const [{ bytesSent = 0, packetsSent = 0, targetBitrate = 0 } = {}] = voices;
    return { bytes: bytesSent, packets: packetsSent, target: targetBitrate };
  });

const packetMs = 60;
const voiceBytes = (24_000 / 8 / 1000) * packetMs; // of a packet with a single voice of 24 kbit/s

/** Mean bytes in a packet, over a beep and the following silence. Chromium reports no other codec when it sends RED. */
const expectPackets = async (side: Side, isRight: (bytes: number) => boolean, target: number): Promise<void> => {
  let before = await sentBy(side);
  const measure = async () => {
    const now = await sentBy(side);
    const bytes = (now.bytes - before.bytes) / Math.max(1, now.packets - before.packets);
    before = now;
    return [isRight(bytes), now.target];
  };
  await expect.poll(measure, { intervals: [1_200], timeout: 45_000 }).toEqual([true, target]);
};

const pretend = ({ page }: Side, link: Window["link"]) =>
  page.evaluate((link) => void Object.assign(window.link, link), link);

test("voice is sent twice on packet loss and at a low bitrate on a slow link, and is heard throughout", async ({
  browser,
}) => {
  const hastened = {
    newContext: async () => {
      const context = await browser.newContext();
      await context.addInitScript(hastenAndPretend);
      return context;
    },
  };
  const sides = new CallSides(hastened as Browser, await bundleCallPage());
  const [a, b] = await Promise.all([sides.open(aline), sides.open(joel)]);
  await a.page.evaluate(() => window.side.plane.prepare());
  await b.page.evaluate(() => {
    window.side.plane.preconnect("a");
    window.side.plane.openDevices();
    window.side.plane.start("a");
  });
  await a.page.evaluate(() => {
    window.side.plane.openDevices();
    window.side.plane.start("b");
  });
  await Promise.all([waitForHearing(a), waitForHearing(b)]);
  await expectPackets(a, (bytes) => bytes < voiceBytes, 24_000);

  await pretend(a, { loss: 0.2 });
  await expectPackets(a, (bytes) => bytes > 1.25 * voiceBytes, 24_000);
  await waitForHearing(b);
  await expectPackets(b, (bytes) => bytes < voiceBytes, 24_000); // each direction as it is

  await pretend(a, { loss: 0.2, estimate: 20_000 });
  await expectPackets(a, (bytes) => bytes < 0.6 * voiceBytes, 12_000);
  await waitForHearing(b);
  await sides.close();
});
