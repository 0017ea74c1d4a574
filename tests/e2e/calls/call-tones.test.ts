import type { BrowserContext, Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { watchDevicesOf } from "#tests/support/browser/call-devices.ts";
import {
  callButton,
  callScreen,
  control,
  expectHearing,
  openCallingIn,
  patienceMs,
} from "#tests/support/browser/calling.ts";
import { siteOf } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

test.use({ actionTimeout: patienceMs });

declare global {
  interface Window {
    /** What the page's own sounds are like now, at which millisecond of their own clock. */
    listen(): { loudness: number; pitch: number; at: number };
  }
}

/** Whatever the page makes sound by itself is measured on its way out. Voices do not go this way. */
const tapSounds = () => {
  const taps: { node: AnalyserNode; audio: AudioContext }[] = [];
  const connect = AudioNode.prototype.connect as (to: AudioNode, ...rest: number[]) => AudioNode;
  AudioNode.prototype.connect = function (this: AudioNode, to: AudioNode, ...rest: number[]) {
    const made = connect.call(this, to, ...rest);
    if (to instanceof AudioDestinationNode && to.context instanceof AudioContext) {
      const node = to.context.createAnalyser();
      node.fftSize = 8_192;
      node.smoothingTimeConstant = 0;
      connect.call(this, node);
      taps.push({ node, audio: to.context });
    }
    return made;
  } as typeof AudioNode.prototype.connect;
  window.listen = () => {
    const now = { loudness: 0, pitch: 0, at: 0 };
    for (const { node, audio } of taps) {
      if (audio.state !== "running") continue;
      const wave = new Float32Array(node.fftSize);
      node.getFloatTimeDomainData(wave);
      const loudness = Math.sqrt(wave.reduce((sum, value) => sum + value * value, 0) / wave.length);
      if (loudness <= now.loudness) continue;
      const bands = new Float32Array(node.frequencyBinCount);
      node.getFloatFrequencyData(bands);
      const loudest = bands.indexOf(bands.reduce((most, value) => Math.max(most, value)));
      const pitch = (loudest * audio.sampleRate) / node.fftSize;
      Object.assign(now, { loudness, pitch, at: audio.currentTime * 1_000 });
    }
    return now;
  };
};

const audible = 0.005; // of 1
// Longer than any rest within each tone
const ringRest = { restMs: 1_800, withinMs: 500 };
const ringbackRest = { restMs: 4_000, withinMs: 500 };
const busyRest = { restMs: 1_200, withinMs: 8_000 }; // it is over by itself
const ringPitches = [659, 784, 988]; // hertz
const isNear = (pitch: number, wanted: number) => Math.abs(pitch - wanted) < 12;

const listen = (page: Page) => page.evaluate(() => window.listen());

const expectPitch = async (page: Page, wanted: readonly number[]): Promise<void> => {
  const heard = async () => {
    const { loudness, pitch } = await listen(page);
    return loudness > audible && wanted.some((one) => isNear(pitch, one));
  };
  await expect.poll(heard, { intervals: [60], timeout: patienceMs }).toBe(true);
};

/**
 * Within so long a sound each of these pages falls silent, for longer than any rest of what it sounded. Where a busy
 * machine makes no sound for a while the same is heard again, and is not counted twice.
 */
const expectSilent = (pages: Page[], { restMs, withinMs }: { restMs: number; withinMs: number }): Promise<unknown> =>
  Promise.all(
    pages.map((page) =>
      page.evaluate(
        async ([limit, restMs, withinMs]) => {
          let last = performance.now();
          let soundedFrom: number | undefined;
          while (performance.now() - last < restMs) {
            const { loudness, at } = window.listen();
            if (loudness > limit) {
              last = performance.now();
              soundedFrom ??= at;
              if (withinMs === 0 || at - soundedFrom > withinMs) throw new Error("it goes on sounding");
            }
            await new Promise((resolve) => setTimeout(resolve, 40));
          }
        },
        [audible, restMs, withinMs] as const,
      ),
    ),
  );

/** Where it does not ring any more to be seen it is not heard either. */
const expectRungOut = async (pages: Page[]): Promise<void> => {
  for (const page of pages) await expect(page.getByRole("alertdialog")).toHaveCount(0, { timeout: patienceMs });
  await expectSilent(pages, ringRest);
};

/** Which of these pages is heard ringing, once one is, and so long after. */
const ringingOf = async (pages: Page[], afterMs = 0): Promise<Page[]> => {
  const heard = new Set<Page>();
  const anyRings = async () => {
    for (const page of pages) if ((await listen(page)).loudness > audible) heard.add(page);
    return heard.size;
  };
  await expect.poll(anyRings, { intervals: [60], timeout: patienceMs }).toBeGreaterThan(0);
  for (const end = Date.now() + afterMs; Date.now() < end; ) await anyRings();
  return [...heard];
};

test("a call is heard ringing at both ends, on one tab of each browser, until it is taken, refused or given up; busy sounds so", async ({
  browser,
  server,
}) => {
  const site = siteOf(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 8_320, "Ana"),
    await makePerson(site, 8_321, "Ben"),
    await makePerson(site, 8_322, "Cléo"),
  ];
  for (const other of [ana, cleo]) await connectPeople(site, other, ben);
  const open = async () => {
    const context: BrowserContext = await browser.newContext({ baseURL: server.origin });
    await context.addInitScript(tapSounds);
    return openCallingIn(context, server);
  };
  const [anas, bens, tablet, cleos] = [await open(), await open(), await open(), await open()];
  await watchDevicesOf(bens.page);
  await Promise.all([
    anas.signInToChat(ana, ben.id),
    bens.signIn(ben),
    tablet.logIn(ben.phone),
    cleos.signInToChat(cleo, ben.id),
  ]);
  const second = await bens.context.newPage();
  await bens.goTo("/app/contacts", second);
  await expect(second.getByRole("navigation").first()).toBeVisible();
  // A page may sound once it was touched.
  for (const page of [bens.page, second, tablet.page]) await page.locator("body").press("Shift");
  const his = [bens.page, second];
  const trembled = () => bens.page.evaluate(() => window.devices.trembled);

  // It rings; of the two tabs of one browser one is heard, and trembles.
  await callButton(anas, ben).click();
  await Promise.all([
    expectPitch(anas.page, [425]),
    expectPitch(tablet.page, ringPitches),
    ringingOf(his, 1_500).then((ringing) => expect(ringing).toHaveLength(1)),
  ]);
  for (const page of his) await expect(page.getByRole("alertdialog", { name: "Ana" })).toBeVisible();
  // Taken on another device it is silent everywhere; a third one hears that the line is busy, and then nothing.
  await control(tablet, "accept").click();
  await expectHearing(anas, tablet);
  // It sounds four times.
  const isBusy = cleos.page.getByText(cleos.texts.calls.say.busy, { exact: true });
  await Promise.all([expect(isBusy).toBeVisible(), expectPitch(cleos.page, [425]), callButton(cleos, ben).click()]);
  await Promise.all([
    expectSilent([anas.page, tablet.page, ...his], ringbackRest),
    expectSilent([cleos.page], busyRest),
  ]);
  expect((await trembled()).at(-1) ?? 0).toBe(0);
  await control(anas, "hangUp").click();
  await expect(callScreen(tablet, ana)).toHaveCount(0);

  // Refused in the tab that is not heard, both are silent.
  await callButton(anas, ben).click();
  const [heard] = await ringingOf(his);
  const other = his.find((page) => page !== heard) ?? second;
  await other.getByRole("button", { name: bens.texts.calls.decline, exact: true }).click();
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await expectRungOut([tablet.page, ...his]);

  // Given up by the one who calls.
  await callButton(anas, ben).click();
  await ringingOf(his);
  await control(anas, "hangUp").click();
  await expectRungOut([tablet.page, ...his]);
  for (const phone of [anas, bens, tablet, cleos]) await phone.close();
});

test("who wants no sound of calls feels that they are called, hears nothing, and is seen and reached as before", async ({
  browser,
  server,
}) => {
  const site = siteOf(server);
  const [ana, ben] = [await makePerson(site, 8_325, "Ana"), await makePerson(site, 8_326, "Ben")];
  await connectPeople(site, ana, ben);
  await callSite(site, "PATCH", "/api/settings", { token: ben.token, body: { calls: { sound: false } } });
  const open = async () => {
    const context: BrowserContext = await browser.newContext({ baseURL: server.origin });
    await context.addInitScript(tapSounds);
    return openCallingIn(context, server);
  };
  const [anas, bens] = [await open(), await open()];
  await watchDevicesOf(bens.page);
  await Promise.all([anas.signInToChat(ana, ben.id), bens.signIn(ben, "/app/notifications")]);
  const { notifications } = bens.texts.settings;
  const ring = bens.page.getByRole("switch", { name: `${notifications.calls} ${notifications.ring}` });
  await expect(ring).not.toBeChecked();
  await bens.page.locator("body").press("Shift");
  const trembled = () => bens.page.evaluate(() => window.devices.trembled);

  await callButton(anas, ben).click();
  await expect(bens.page.getByRole("alertdialog", { name: "Ana" })).toBeVisible();
  await expect.poll(trembled).not.toEqual([]);
  await expectSilent([bens.page], { ...ringRest, withinMs: 0 });
  await control(bens, "accept").click();
  await expectHearing(anas, bens);
  expect((await trembled()).at(-1)).toBe(0);
  await control(anas, "hangUp").click();
  for (const phone of [anas, bens]) await phone.close();
});
