import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeWav, wavHeaderBytes } from "#scripts/wav.mjs";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import type { TestClient } from "#tests/support/browser/test-client.ts";
import { openPair } from "#tests/support/people/pair.ts";

const sound = join(tmpdir(), `lisolo-sweep-${process.pid}.wav`);
const sweep = { hertz: 48_000, seconds: 24, fromHz: 400, hzPerSecond: 100 };
const lostMaxS = 0.2; // at each end

/** Tone that rises with time, so that each moment of it is known by its pitch. */
const makeSweep = (): Buffer => {
  const { hertz, seconds, fromHz, hzPerSecond } = sweep;
  const wav = makeWav(hertz, hertz * seconds);
  for (let n = 0; n < hertz * seconds; n++) {
    const at = n / hertz;
    const phase = 2 * Math.PI * (fromHz * at + (hzPerSecond * at * at) / 2);
    wav.writeInt16LE(Math.round(12_000 * Math.sin(phase)), wavHeaderBytes + n * 2);
  }
  return wav;
};

test.use({
  launchOptions: async ({ launchOptions }, use) => {
    writeFileSync(sound, makeSweep());
    await use({
      ...launchOptions,
      args: [...(launchOptions.args ?? []), `--use-file-for-fake-audio-capture=${sound}`],
    });
    rmSync(sound, { force: true });
  },
});

/** Notes when the recorder shows that it records, and when the send button is pressed. */
const watchRecorder = ({ page, texts }: TestClient) =>
  page.evaluate((send) => {
    const times: { shownAt?: number; pressedAt?: number } = {};
    Object.assign(window, { recorderTimes: times });
    new MutationObserver(() => {
      if (document.querySelector("[role=timer]")) times.shownAt ??= performance.now();
    }).observe(document.body, { childList: true, subtree: true });
    const press = ({ target }: Event) => {
      if (target instanceof Element && target.closest(`button[aria-label="${send}"]`))
        times.pressedAt ??= performance.now();
    };
    document.addEventListener("click", press, true);
  }, texts.chat.voice.send);

/** Duration of the only voice message in seconds, and the moments of the sweep heard every half second. */
const listen = ({ page }: TestClient) =>
  page.evaluate(async ({ fromHz, hzPerSecond }) => {
    const [file] = performance
      .getEntriesByType("resource")
      .map(({ name }) => name)
      .filter((name) => /\/api\/conversations\/[^/]+\/files\//.test(name));
    if (!file) throw new Error("the message was not loaded");
    const context = new AudioContext();
    const audio = await context.decodeAudioData(await (await fetch(file)).arrayBuffer());
    const samples = audio.getChannelData(0);
    const windowLength = Math.round(audio.sampleRate * 0.06);
    /** Second of the sweep that is heard here, from the distance of its zero crossings. */
    const toMoment = (from: number): number => {
      const crossings: number[] = [];
      for (let n = from + 1; n < from + windowLength; n++) {
        const [before = 0, now = 0] = [samples[n - 1], samples[n]];
        if (before < 0 && now >= 0) crossings.push(n - 1 + before / (before - now));
      }
      const [first = 0, last = 0] = [crossings[0], crossings.at(-1)];
      const hertz = ((crossings.length - 1) * audio.sampleRate) / (last - first);
      return (hertz - fromHz) / hzPerSecond;
    };
    const moments: number[] = [];
    for (let at = 0.1; at < audio.duration - 0.2; at += 0.5) moments.push(toMoment(Math.round(at * audio.sampleRate)));
    return { seconds: audio.duration, moments };
  }, sweep);

test("a voice message misses at most a fifth of a second at each end, and nothing between", async ({
  browser,
  server,
}) => {
  const { phones } = await openPair(browser, server, 5260);
  const [anas, bens] = phones;
  await watchRecorder(anas);
  await anas.page.getByRole("button", { name: anas.texts.chat.voice.record }).press("Enter");
  await expect(anas.page.getByRole("timer")).toHaveText(/^00:0[5-9]$/);
  await anas.page.getByRole("button", { name: anas.texts.chat.voice.send, exact: true }).press("Enter");
  const play = bens.page.getByRole("button", { name: new RegExp(`^${bens.texts.messages.playVoice}`) });
  await play.click();
  await expect(bens.page.getByRole("slider")).not.toHaveValue("0");

  const { shownAt = 0, pressedAt = 0 } = await anas.page.evaluate(
    () => Reflect.get(window, "recorderTimes") as { shownAt?: number; pressedAt?: number },
  );
  const spokenS = (pressedAt - shownAt) / 1_000;
  const { seconds, moments } = await listen(bens);
  expect(spokenS).toBeGreaterThan(4);
  expect(seconds).toBeGreaterThan(spokenS - 2 * lostMaxS);
  // Each half second follows the one before.
  for (const [index, moment] of moments.entries()) {
    const previous = moments[index - 1];
    if (previous !== undefined) expect(moment - previous).toBeCloseTo(0.5, 1);
  }
  for (const { context } of phones) await context.close();
});
