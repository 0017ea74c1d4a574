import type { CallSideOptions } from "#tests/support/browser/call-page.ts";
import {
  bundleCallPage,
  CallSides,
  readActiveMs,
  readEvents,
  readReceived,
  readStates,
  readView,
  type Side,
  waitForConnected,
  waitForHearing,
} from "#tests/support/browser/call-sides.ts";
import { expect, test } from "#tests/support/browser/closing-test.ts";

// Sound plays without a tap here, and candidates contain addresses, as on a phone that allowed the microphone.
test.use({
  launchOptions: async ({ launchOptions }, use) => {
    const args = ["--autoplay-policy=no-user-gesture-required", "--disable-features=WebRtcHideLocalIpsWithMdns"];
    await use({ ...launchOptions, args: [...(launchOptions.args ?? []), ...args] });
  },
});

// Most of the time of each test is waiting for packets.
test.describe.configure({ mode: "parallel" });

const aline: CallSideOptions = { device: "a", isPolite: false, isCaller: true, kind: "audio" };
const joel: CallSideOptions = { device: "b", isPolite: true, isCaller: false, kind: "audio" };

let script: string;
let sides: CallSides;
test.beforeAll(async () => {
  script = await bundleCallPage();
});
test.beforeEach(({ browser }) => {
  sides = new CallSides(browser, script);
});
test.afterEach(async () => {
  await sides.close();
});

/** She calls and his device rings: a connection is prepared. */
const ring = async (caller: CallSideOptions = aline, callee: CallSideOptions = joel): Promise<[Side, Side]> => {
  const [a, b] = await Promise.all([sides.open(caller), sides.open(callee)]);
  await a.page.evaluate(() => window.side.plane.prepare());
  await b.page.evaluate((device) => {
    window.side.plane.prepare();
    window.side.plane.preconnect(device);
  }, caller.device);
  return [a, b];
};

const start = ({ page }: Side, other: Side): Promise<void> =>
  page.evaluate((device) => {
    window.side.plane.openDevices();
    window.side.plane.start(device);
  }, other.device);

const connectSides = async (a: Side, b: Side): Promise<void> => {
  await Promise.all([start(b, a), start(a, b)]);
  await Promise.all([waitForHearing(a), waitForHearing(b)]);
};

const countOf = (side: Side, what: string) =>
  readEvents(side).then((events) => events.filter((one) => one.what === what).length);

/** Own addresses in the signals that this device sent. */
const addressesFrom = ({ device }: Side): string[] =>
  sides.signals
    .filter(({ from }) => from === device)
    .flatMap(({ signal }) => signal.match(/candidate:|\b(?!0\.0\.0\.0|127\.0\.0\.1)\d+\.\d+\.\d+\.\d+\b/g) ?? []);

/** Addresses of the other side that this device knows, from signals or from received packets. */
const addressesKnownTo = async ({ page }: Side): Promise<number> =>
  (await page.evaluate(() => window.side.stats())).filter(({ type }) => type === "remote-candidate").length;

/** Everything exchanged during a ring without a relay: both descriptions and the caller's candidates. */
const whenDescribed = async (a: Side): Promise<void> => {
  await expect
    .poll(() => sides.signals.some(({ signal }) => signal.includes('"answer"')), { timeout: 30_000 })
    .toBe(true);
  await expect.poll(() => addressesFrom(a).length, { timeout: 30_000 }).toBeGreaterThan(0);
};

for (const callee of [joel, { ...joel, isPolite: false }]) {
  const role = callee.isPolite ? "answers" : "makes";
  test(`a caller does not learn the callee's address before the call is accepted, when the callee ${role} the offer`, async () => {
    const [a, b] = await ring({ ...aline, isPolite: !callee.isPolite }, callee);
    await whenDescribed(a);
    await a.page.waitForTimeout(1_500); // as long as connectivity checks would have taken
    expect(addressesFrom(b)).toEqual([]);
    expect(await addressesKnownTo(a)).toBe(0);
    await b.page.evaluate(() => window.side.plane.openDevices()); // accepted, and the server has not answered yet
    await Promise.all([waitForConnected(a), waitForConnected(b)]);
    expect(await a.page.evaluate(() => window.side.connections())).toBe(1);
  });
}

test("with a relay the callee's own addresses are sent and tried once the call is accepted", async () => {
  // Nothing listens there: the connection uses no relay.
  const iceServers = [{ urls: "turn:127.0.0.1:9", username: "nobody", credential: "nothing" }];
  const [a, b] = await ring(aline, { ...joel, iceServers });
  await whenDescribed(a);
  await a.page.waitForTimeout(1_500);
  expect(addressesFrom(b)).toEqual([]);
  expect(await addressesKnownTo(a)).toBe(0);
  await connectSides(a, b);
  expect(addressesFrom(b)).not.toEqual([]);
});

test("no device is opened while it rings, both hear each other at once when it is answered, and muted or with the camera off nothing is sent", async () => {
  const [a, b] = await ring();
  await whenDescribed(a);
  // No device was opened while it only rang, and no voice was sent.
  expect(await b.page.evaluate(() => window.side.sentTracks())).toEqual(["none", "none"]);
  const sent = await a.page.evaluate(() => window.side.stats());
  expect(sent.filter(({ type }) => type === "outbound-rtp").every(({ packetsSent }) => packetsSent === 0)).toBe(true);
  expect(await countOf(a, "heard")).toBe(0);

  const from = Date.now();
  await connectSides(a, b);
  for (const side of [a, b]) {
    await expect.poll(() => countOf(side, "heard")).toBe(1);
    const [first] = await readEvents(side);
    expect(first?.what).toBe("heard");
    test.info().annotations.push({ type: "start to first voice, ms", description: `${(first?.at ?? 0) - from}` });
  }
  // Two seconds of which less than half is concealed. A busy machine may delay packets for a while.
  const isPlain = async (side: Side) => {
    const before = await readReceived(side);
    await expect.poll(async () => (await readReceived(side)).samples).toBeGreaterThan(before.samples + 96_000);
    const now = await readReceived(side);
    return (now.concealed - before.concealed) / (now.samples - before.samples) < 0.5;
  };
  for (const side of [a, b]) await expect.poll(() => isPlain(side), { timeout: 30_000 }).toBe(true);
  // Voice in packets of 60 ms, each with minimal headers.
  const [voice] = (await a.page.evaluate(() => window.side.stats())).filter(
    ({ type, kind }) => type === "outbound-rtp" && kind === "audio",
  );
  expect(voice.headerBytesSent / voice.packetsSent).toBeLessThan(21);
  await expect.poll(async () => (await readView(a))?.quality).toBeGreaterThan(0);

  // A muted voice is silent.
  await a.page.evaluate(() => window.side.plane.setMuted(true));
  await expect.poll(async () => (await readView(b))?.peer.isMuted).toBe(true);
  // Buffered sound is played first.
  await expect
    .poll(async () => {
      const before = await readReceived(b);
      await b.page.waitForTimeout(700);
      const now = await readReceived(b);
      return now.energy - before.energy < 0.001 && now.packets > before.packets;
    })
    .toBe(true);
  // For longer than the timeout of a lost voice: the packets of silence are enough.
  const { packets } = await readReceived(b);
  await expect.poll(async () => (await readReceived(b)).packets, { timeout: 15_000 }).toBeGreaterThan(packets + 10);
  expect(await countOf(b, "interrupted")).toBe(0);
  await a.page.evaluate(() => window.side.plane.setMuted(false));
  await waitForHearing(b);

  // Video is shown while the camera is on, and the camera is closed when it is off.
  await a.page.evaluate(() => window.side.plane.setCameraOn(true));
  await expect.poll(async () => (await readReceived(b)).frames, { timeout: 15_000 }).toBeGreaterThan(10);
  await expect.poll(() => readView(b)).toMatchObject({ peer: { isMuted: false, hasMic: true, hasVideo: true } });
  expect(await readView(a)).toMatchObject({ camera: "on", local: 1 });
  await a.page.evaluate(() => window.side.plane.setCameraOn(false));
  await expect.poll(async () => (await readView(b))?.peer.hasVideo).toBe(false);
  // The track has ended by then; the browser releases it later.
  await expect.poll(() => a.page.evaluate(() => window.side.sentTracks())).toEqual(["audio", "none"]);
  await expect.poll(() => readView(a)).toMatchObject({ camera: "off", local: 0 });
  const { frames } = await readReceived(b);
  await a.page.evaluate(() => window.side.plane.setCameraOn(true));
  await expect.poll(async () => (await readReceived(b)).frames, { timeout: 15_000 }).toBeGreaterThan(frames + 10);
});

test("signals that are lost, duplicated, late and reordered still connect once", async () => {
  let turn = 0;
  sides.faults = {
    delayMs: () => 20 + ((turn * 7919) % 400),
    isLost: () => ++turn % 3 === 0,
    isDoubled: () => turn % 2 === 0,
  };
  const [a, b] = await ring();
  await b.page.evaluate(() => window.side.plane.openDevices());
  await Promise.all([waitForConnected(a), waitForConnected(b)]);
  await connectSides(a, b);
  expect(await a.page.evaluate(() => window.side.connections())).toBe(1);
});

test("a call survives a reload of a page without a ring, an ICE restart of both sides, and a microphone that is pulled out", async () => {
  const [a, b] = await ring();
  await connectSides(a, b);
  const from = Date.now();
  await sides.load(b, joel);
  await start(b, a);
  await waitForConnected(b);
  await Promise.all([waitForHearing(a), waitForHearing(b)]);
  test.info().annotations.push({ type: "loaded again to heard, ms", description: `${Date.now() - from}` });
  expect(await a.page.evaluate(() => window.side.connections())).toBe(1);
  expect(await countOf(a, "failed")).toBe(0);
  expect(await countOf(a, "voiceless")).toBe(0); // the signal that it has no microphone was lost

  // An ICE restart of both sides at the same moment keeps their two media sections and their voices.
  sides.faults = { delayMs: () => 150, isLost: () => false, isDoubled: () => false };
  for (let round = 0; round < 3; round++) {
    const before = await Promise.all([a, b].map(({ page }) => page.evaluate(() => window.side.generation())));
    await Promise.all([a, b].map(({ page }) => page.evaluate(() => window.side.restart())));
    for (const [index, { page }] of [a, b].entries()) {
      await expect.poll(() => page.evaluate(() => window.side.generation())).not.toBe(before[index]);
    }
  }
  await Promise.all([waitForHearing(a), waitForHearing(b)]);
  for (const { page } of [a, b]) expect(await page.evaluate(() => window.side.transceivers())).toEqual([2]);

  // A microphone that is pulled out is replaced by another one.
  const pulled = await a.page.evaluate(() => window.side.pullMicrophone());
  await expect.poll(async () => (await readView(a))?.mic).toBe("on");
  await expect.poll(() => a.page.evaluate(() => window.side.microphone())).not.toBe(pulled);
  await waitForHearing(b);
});

test("a voice that stops arriving is noticed after two seconds, and returns over a new connection", async () => {
  const [a, b] = await ring();
  await connectSides(a, b);
  const generation = await a.page.evaluate(() => window.side.generation());
  await b.page.evaluate(() => window.side.loseVoice());
  const from = await readActiveMs(a);
  await expect.poll(() => countOf(a, "interrupted")).toBe(1);
  const missed = (await readEvents(a)).find(({ what }) => what === "interrupted")?.lived ?? 0;
  expect(missed - from).toBeLessThan(4_000);
  expect(await countOf(a, "suspect")).toBeGreaterThan(0);
  await expect.poll(() => a.page.evaluate(() => window.side.generation())).not.toBe(generation);
  // Three other attempts of four seconds each precede it.
  await expect.poll(() => countOf(a, "heard"), { timeout: 60_000 }).toBe(2);
  await Promise.all([waitForHearing(a), waitForHearing(b)]);
  for (const { page } of [a, b]) expect(await page.evaluate(() => window.side.connections())).toBe(1);
});

test("receiving audio only leaves the other's camera setting alone, the other is told when their video is sent again, and a page that is reloaded muted and with the camera off sends nothing", async () => {
  const [a, b] = await ring({ ...aline, kind: "video" }, { ...joel, kind: "video" });
  await connectSides(a, b);
  await expect.poll(async () => (await readReceived(b)).frames, { timeout: 20_000 }).toBeGreaterThan(5);
  const wants = (are: boolean) => b.page.evaluate((are) => window.side.plane.setRemoteVideoWanted(are), are);
  await wants(false);
  await expect.poll(async () => (await readView(a))?.camera).toBe("unwanted");
  expect(await readView(a)).toMatchObject({ isVideoRestored: false, peer: { isVoiceOnly: true } });
  await wants(true);
  await expect.poll(async () => (await readView(a))?.isVideoRestored).toBe(true);
  // A wish that was withdrawn meanwhile stays withdrawn.
  await wants(false);
  await expect.poll(async () => (await readView(a))?.camera).toBe("unwanted");
  await a.page.evaluate(() => window.side.plane.setCameraOn(false));
  await wants(true);
  await expect.poll(async () => (await readView(a))?.peer.isVoiceOnly).toBe(false);
  expect(await readView(a)).toMatchObject({ camera: "off", isVideoRestored: false, local: 0 });
  await expect.poll(async () => (await readView(b))?.peer).toMatchObject({ isCameraOff: true, hasVideo: false });

  // A page that is reloaded muted and with the camera off sends neither voice nor video.
  await sides.load(b, { ...joel, kind: "video", choices: { isMuted: true, isCameraOn: false } });
  await start(b, a);
  await waitForConnected(b);
  await waitForHearing(b);
  // Sound is played and is silent. If voice had been sent for a moment, its energy would remain in the sum.
  await expect.poll(async () => (await readReceived(a)).packets, { timeout: 15_000 }).toBeGreaterThan(5);
  await expect.poll(async () => (await readView(a))?.peer).toMatchObject({ isMuted: true, isCameraOff: true });
  const { energy, frames } = await readReceived(a);
  expect([energy < 0.001, frames]).toEqual([true, 0]);
  expect(await readView(b)).toMatchObject({ mic: "muted", camera: "off", local: 0 });
  expect(await b.page.evaluate(() => window.side.sentTracks())).toEqual(["audio", "none"]);
});

/** Closes one side's page: the other notices within moments. */
const expectMissed = async (a: Side, b: Side): Promise<void> => {
  await b.page.close();
  const from = await readActiveMs(a);
  await expect.poll(() => countOf(a, "interrupted"), { intervals: [50], timeout: 15_000 }).toBe(1);
  const missed = (await readEvents(a)).find(({ what }) => what === "interrupted")?.lived ?? 0;
  test.info().annotations.push({ type: "closed to missed, ms", description: `${missed - from}` });
  expect(missed - from).toBeLessThan(4_500);
};

test("a closed page is noticed within moments, and is not reported as muted", async () => {
  const [a, b] = await ring();
  await connectSides(a, b);
  await b.page.evaluate(() => window.side.plane.setCameraOn(true));
  await expect.poll(async () => (await readReceived(a)).frames, { timeout: 15_000 }).toBeGreaterThan(5);
  await expect.poll(async () => (await readView(a))?.quality).toBeGreaterThan(1);
  await expectMissed(a, b);
  expect(await readView(a)).toMatchObject({ quality: 1, peer: { isMuted: false, hasMic: true } });
  expect(await countOf(a, "voiceless")).toBe(0);
});

test("a hang-up is sent to the other side directly, which a side that only rings cannot do", async () => {
  const [a, b] = await ring();
  const third = await sides.open({ ...joel, device: "c" });
  // It accepts as well, and another device was faster.
  await third.page.evaluate(() => {
    window.side.plane.preconnect("a");
    window.side.plane.openDevices();
  });
  await waitForConnected(third);
  await third.page.evaluate(() => window.side.plane.stop(true));
  await connectSides(a, b);
  sides.faults = { delayMs: () => 0, isLost: () => true, isDoubled: () => false }; // the server is not reachable
  await a.page.evaluate(() => window.side.plane.stop(true));
  const from = Date.now();
  await expect.poll(() => countOf(b, "left"), { intervals: [20] }).toBe(1);
  test.info().annotations.push({ type: "hung up to heard, ms", description: `${Date.now() - from}` });
  await b.page.evaluate(() => window.side.plane.stop());
  for (const { page } of [a, b]) await expect.poll(() => page.evaluate(() => window.side.connections())).toBe(0);
  expect((await readEvents(a)).filter(({ what }) => what === "left")).toEqual([]);
});

test("of three devices that ring two are preconnected, and only the one that answers stays connected", async () => {
  const [a, b] = await ring();
  const others = await Promise.all(["c", "d"].map((device) => sides.open({ ...joel, device })));
  for (const { page } of others) await page.evaluate(() => window.side.plane.preconnect("a"));
  const devices = [b, ...others];
  const offered = () => {
    const offers = sides.signals.filter(({ from, signal }) => from === a.device && signal.includes('"offer"'));
    return devices.filter(({ device }) => offers.some(({ to }) => to === device));
  };
  await expect.poll(() => offered().length, { timeout: 30_000 }).toBe(2);
  await expect.poll(() => a.page.evaluate(() => window.side.connections())).toBe(2);
  // The side that was not preconnected takes it.
  const late = devices.find((side) => !offered().includes(side));
  if (!late) throw new Error("all of them were met");
  await connectSides(a, late);
  expect(await a.page.evaluate(() => window.side.connections())).toBe(1);
});

test("a person without microphone permission is told so and hears the other side, which is told that no voice is sent, and notices a closed page as soon", async () => {
  const [a, b] = await Promise.all([sides.open(aline), sides.open(joel, false)]);
  await a.page.evaluate(() => window.side.plane.prepare());
  await b.page.evaluate(() => window.side.plane.preconnect("a"));
  await Promise.all([start(b, a), start(a, b)]);
  await waitForHearing(b);
  expect(await readView(b)).toMatchObject({ mic: "refused" });
  await expect.poll(() => countOf(a, "heard"), { timeout: 30_000 }).toBe(1);
  await expect.poll(() => readView(a)).toMatchObject({ mic: "on", peer: { isMuted: false, hasMic: false } });

  // Its closed page is noticed as soon as one that talks: the channel for the hang-up is open by now.
  await expectMissed(a, b);
});

test("a hidden address is never sent, even if there is no other connection", async () => {
  const hidden = { isHidden: true };
  const [a, b] = await ring({ ...aline, ...hidden }, { ...joel, ...hidden });
  await expect.poll(() => sides.signals.some(({ signal }) => signal.includes('"answer"'))).toBe(true);
  await a.page.waitForTimeout(500);
  const signalText = sides.signals.map(({ signal }) => signal).join("\n");
  expect(signalText).not.toContain("candidate");
  expect(signalText.match(/\b(?!0\.0\.0\.0|127\.0\.0\.1)\d+\.\d+\.\d+\.\d+\b/)).toBeNull();
  expect(await readStates(b)).not.toEqual(["connected"]);
});
