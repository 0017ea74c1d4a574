import type { BrowserContext, Page } from "@playwright/test";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  callButton,
  callControl,
  callScreen,
  callTimeoutMs,
  expectHearing,
  openCallClientIn,
} from "#tests/support/browser/call-client.ts";
import { instrumentDevices } from "#tests/support/browser/call-devices.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, signInAgain } from "#tests/support/people/people.ts";

test.use({ actionTimeout: callTimeoutMs });

declare global {
  interface Window {
    /** Sounds of the page now, and the time of its audio clock in milliseconds. */
    listen(): { loudness: number; pitch: number; at: number };
  }
}

/** Everything the page plays itself is measured at its output. Voices do not pass through it. */
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
// Longer than any pause within each tone
const ringRest = { restMs: 1_800, withinMs: 500 };
const ringbackRest = { restMs: 4_000, withinMs: 500 };
const busyRest = { restMs: 1_200, withinMs: 8_000 }; // it ends by itself
const ringPitches = [659, 784, 988]; // hertz
const pitchTolerance = 12; // hertz

const listen = (page: Page) => page.evaluate(() => window.listen());

/** Waits for a pitch. Measured by the page itself, because a question from outside may take longer than a beep. */
const expectPitch = (page: Page, wanted: readonly number[]): Promise<unknown> =>
  page.waitForFunction(
    ([limit, tolerance, wanted]) => {
      const { loudness, pitch } = window.listen();
      return loudness > limit && wanted.some((one) => Math.abs(pitch - one) < tolerance);
    },
    [audible, pitchTolerance, wanted] as const,
    { polling: 40, timeout: callTimeoutMs },
  );

/**
 * Waits until each of these pages is silent for longer than any pause of its tone. If a busy machine interrupts the
 * sound, the same tone continues and is not counted twice.
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

/** A page that no longer shows the ring must be silent too. */
const expectRungOut = async (pages: Page[]): Promise<void> => {
  for (const page of pages) await expect(page.getByRole("alertdialog")).toHaveCount(0, { timeout: callTimeoutMs });
  await expectSilent(pages, ringRest);
};

/** Pages on which the ring is heard, after one is heard, and this long afterwards. */
const ringingOf = async (pages: Page[], afterMs = 0): Promise<Page[]> => {
  const heard = new Set<Page>();
  const anyRings = async () => {
    for (const page of pages) if ((await listen(page)).loudness > audible) heard.add(page);
    return heard.size;
  };
  await expect.poll(anyRings, { intervals: [60], timeout: callTimeoutMs }).toBeGreaterThan(0);
  for (const end = Date.now() + afterMs; Date.now() < end; ) await anyRings();
  return [...heard];
};

test("a call is heard ringing on both sides, in one tab of each browser, until it is answered, declined or cancelled; a busy line plays the busy tone; with call sounds off it only vibrates", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [
    await makePerson(site, 8_320, "Ana"),
    await makePerson(site, 8_321, "Ben"),
    await makePerson(site, 8_322, "Cléo"),
  ];
  for (const other of [ana, cleo]) await connectPeople(site, other, ben);
  const open = async () => {
    const context: BrowserContext = await browser.newContext({ baseURL: server.origin });
    await context.addInitScript(tapSounds);
    return openCallClientIn(context, server);
  };
  const [anas, bens, tablet] = [await open(), await open(), await open()];
  await instrumentDevices(bens.page);
  await Promise.all([
    anas.signInToChat(ana, ben.id),
    bens.signIn(ben),
    signInAgain(site, ben).then((again) => tablet.signIn(again)),
  ]);
  const second = await bens.context.newPage();
  await bens.goTo("/app/contacts", second);
  await expect(second.getByRole("navigation").first()).toBeVisible();
  // A page may play sound once it was touched.
  for (const page of [bens.page, second, tablet.page]) await page.locator("body").press("Shift");
  const bensPages = [bens.page, second];
  const trembled = () => bens.page.evaluate(() => window.devices.trembled);

  // It rings; of two tabs of one browser one is heard and vibrates.
  await callButton(anas, ben).click();
  await Promise.all([
    expectPitch(anas.page, [425]),
    expectPitch(tablet.page, ringPitches),
    ringingOf(bensPages, 1_500).then((ringing) => expect(ringing).toHaveLength(1)),
  ]);
  for (const page of bensPages) await expect(page.getByRole("alertdialog", { name: "Ana" })).toBeVisible();
  // Answered on another device, it is silent everywhere.
  await callControl(tablet, "accept").click();
  await expectHearing(anas, tablet);
  await expectSilent([anas.page, tablet.page, ...bensPages], ringbackRest);
  expect((await trembled()).at(-1) ?? 0).toBe(0);
  await callControl(anas, "hangUp").click();
  await expect(callScreen(tablet, ana)).toHaveCount(0);

  // Declined in the silent tab, both are silent.
  await callButton(anas, ben).click();
  const [heard] = await ringingOf(bensPages);
  const other = bensPages.find((page) => page !== heard) ?? second;
  await other.getByRole("button", { name: bens.texts.calls.decline, exact: true }).click();
  await expect(callScreen(anas, ben)).toHaveCount(0);
  await expectRungOut([tablet.page, ...bensPages]);

  // Cancelled by the caller.
  await callButton(anas, ben).click();
  await ringingOf(bensPages);
  await callControl(anas, "hangUp").click();
  await expectRungOut([tablet.page, ...bensPages]);

  // While a third person rings Ben, Ana hears the busy tone, which beeps four times, and then nothing.
  const conversation = privateConversationId(cleo.id, ben.id);
  const [device, busyCall] = [createUuid(), createUuid()];
  const post = (path: string, body: object) =>
    callSite(site, "POST", path, { token: cleo.token, body: { conversation, device, ...body } });
  await post("/api/calls", { call_id: busyCall, type: "audio" });
  const isBusy = anas.page.getByText(anas.texts.calls.say.busy, { exact: true });
  await Promise.all([expect(isBusy).toBeVisible(), expectPitch(anas.page, [425]), callButton(anas, ben).click()]);
  await expectSilent([anas.page], busyRest);
  await post(`/api/calls/${busyCall}/end`, { status: "missed" });
  await expectRungOut([tablet.page, ...bensPages]);

  // With call sounds off a call vibrates, is silent, and is otherwise shown and answered as before.
  await second.close();
  await callSite(site, "PATCH", "/api/settings", { token: ben.token, body: { calls: { sound: false } } });
  await bens.openRoute("/app/notifications");
  const { notifications } = bens.texts.settings;
  const ring = bens.page.getByRole("switch", { name: `${notifications.calls} ${notifications.ring}` });
  await expect(ring).not.toBeChecked();
  await bens.page.evaluate(() => void window.devices.trembled.splice(0));
  await callButton(anas, ben).click();
  await expect(bens.page.getByRole("alertdialog", { name: "Ana" })).toBeVisible();
  await expect.poll(trembled).not.toEqual([]);
  await expect(tablet.page.getByRole("alertdialog", { name: "Ana" })).toBeVisible();
  await expectSilent([bens.page, tablet.page], { ...ringRest, withinMs: 0 });
  await callControl(bens, "accept").click();
  await expectHearing(anas, bens);
  expect((await trembled()).at(-1)).toBe(0);
  await callControl(anas, "hangUp").click();
  for (const phone of [anas, bens, tablet]) await phone.close();
});
