import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  openReader,
  report,
  reportName,
  type SendFiles,
  sendPicture,
  sendReport,
  sendVoice,
  watchFiles,
} from "#tests/support/browser/chat-files.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { soundsOf, watchSounds } from "#tests/support/browser/sounds.ts";
import { fill } from "#tests/support/browser/test-client.ts";
import { sendAttachment } from "#tests/support/people/attachments.ts";
import { sendTexts } from "#tests/support/people/messages.ts";

/** Taps twice with the event times of a real double tap, however late a busy page processes them. */
const tapTwice = async (page: Page, at: { x: number; y: number }): Promise<void> => {
  const input = await page.context().newCDPSession(page);
  const now = Date.now() / 1_000;
  await Promise.all(
    [1, 2].flatMap((clickCount) =>
      (["mousePressed", "mouseReleased"] as const).map((type, index) => {
        const timestamp = now - 0.2 + clickCount * 0.1 + index * 0.05;
        return input.send("Input.dispatchMouseEvent", { ...at, button: "left", clickCount, type, timestamp });
      }),
    ),
  );
  await input.detach();
};

test("a picture reserves its space, loads automatically when it is small, and can be enlarged", async ({
  browser,
  server,
}) => {
  const { ana, ben, phone, page, texts } = await openReader(browser, server, 540, async (site, by, conversation) => {
    await sendPicture(site, by, conversation, "petite.png", 0, "Vue du fleuve www.example.com");
    await sendPicture(site, by, conversation, "grande.png", 90);
    // Text that ends its isolation and reverses what follows.
    await sendTexts(site, by, conversation, ["facture\u2069\u202efdp.exe", "dernier"]);
  });
  const asked = watchFiles(page);
  await phone.signInToChat(ana, ben.id);
  const rows = page.getByRole("main").getByRole("listitem");
  const [small, large] = [rows.nth(0), rows.nth(1)];
  const picture = small.getByRole("img", { name: fill(texts.photoWith, { text: "Vue du fleuve" }) });
  await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(640);

  // The large picture shows its placeholder and its size; none of it was requested.
  await expect(large.locator("img")).toHaveAttribute("src", /^data:image\/png/);
  const download = large.getByRole("button", { name: texts.loadPicture });
  await expect(download).toContainText("ko");
  expect(await findAxeViolations(page)).toEqual([]);
  expect(new Set(asked).size).toBe(1);
  const before = await large.boundingBox();
  await download.click();
  const whole = large.getByRole("img", { name: texts.photo });
  await expect.poll(() => whole.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(640);
  expect(await large.boundingBox()).toEqual(before);

  await whole.click();
  const viewer = page.getByRole("dialog", { name: texts.viewer });
  const shown = viewer.getByRole("img", { name: fill(texts.pictureBy, { name: ben.username, when: "" }).trim() });
  await expect(shown).toHaveAttribute("alt", /\d\d:\d\d$/);
  const scale = async () => Number(await shown.getAttribute("data-scale"));
  expect(await scale()).toBe(1);
  await page.keyboard.press("+");
  await expect.poll(scale).toBeCloseTo(1.5);
  await page.keyboard.press("0");
  await shown.evaluate((img) =>
    Promise.all((img.parentElement ?? img).getAnimations({ subtree: true }).map((move) => move.finished)),
  );
  const box = await shown.boundingBox();
  if (!box) throw new Error("no picture");
  const point = { x: box.x + 40, y: box.y + 30 };
  await tapTwice(page, point);
  await expect.poll(scale).toBeCloseTo(2.5);
  // The point under the finger stays there, as far as the picture's edges allow.
  await expect.poll(async () => (await shown.boundingBox())?.width).toBeCloseTo(box.width * 2.5, 0);
  await page.mouse.move(point.x, point.y);
  await page.mouse.wheel(0, -300);
  await expect.poll(scale).toBeGreaterThan(4);
  await tapTwice(page, point);
  await expect.poll(scale).toBe(1);

  await page.keyboard.press("ArrowLeft");
  await expect(viewer.getByText("Vue du fleuve")).toBeVisible();
  const link = viewer.getByRole("link", { name: "www.example.com" });
  await expect(link).toHaveAttribute("href", "https://www.example.com/");
  await expect(link).toHaveAttribute("rel", "noopener noreferrer nofollow");
  await expect(viewer.getByRole("button", { name: texts.previousPicture })).toHaveCount(0);
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    viewer.getByRole("link", { name: texts.save }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe("petite.png");
  await viewer.getByRole("button", { name: texts.nextPicture }).click();
  await expect(viewer.getByText("Vue du fleuve")).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(viewer).toHaveCount(0);

  // Direction marks in a text do not move it over the time.
  const isDrawnOver = await rows.filter({ hasText: "facture" }).evaluate((row) => {
    const time = row.querySelector("time")?.getBoundingClientRect();
    const words = document.createRange();
    words.selectNodeContents(row.querySelector("p bdi") ?? row);
    const spacer = row.querySelector("p [data-time]");
    if (spacer) words.setEndBefore(spacer);
    return [...words.getClientRects()].some((box) => !time || (box.right > time.left + 1 && box.bottom > time.top + 3));
  });
  expect(isDrawnOver).toBe(false);

  // By keyboard, one key skips all controls inside the messages.
  const skip = page.getByRole("button", { name: phone.texts.chat.toComposer });
  await skip.focus();
  expect((await skip.boundingBox())?.height).toBeGreaterThanOrEqual(48);
  await page.keyboard.press("Enter");
  await expect(phone.composer()).toBeFocused();
  await phone.close();
});

test("a file is saved with its name and bytes, and a voice message is played, sought and stored for offline use", async ({
  browser,
  server,
}) => {
  const sendAll: SendFiles = async (site, by, conversation) => {
    await sendVoice(site, by, conversation, 90_000);
    await sendVoice(site, by, conversation, 28_000);
    await sendTexts(
      site,
      by,
      conversation,
      Array.from({ length: 40 }, (_, n) => `entre ${n + 1}`),
    );
    await sendReport(site, by, conversation);
    await sendAttachment(site, by, conversation, report, { type: "file", name: "Pas ici.pdf" });
  };
  const { ana, ben, phone, page, texts } = await openReader(browser, server, 542, sendAll, withServiceWorker);
  await watchSounds(page);
  await phone.signInToChat(ana, ben.id);
  const row = page.getByRole("main").getByRole("listitem").filter({ hasText: "Rapport du mois" });
  await expect(row).toContainText("34 ko");
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    row.getByRole("button", { name: fill(texts.fetchFile, { name: reportName }) }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe(reportName);
  expect(readFileSync(await saved.path())).toEqual(report);
  // From now on it is stored, with a link to it.
  await expect(row.getByRole("link", { name: fill(texts.saveFile, { name: reportName }) })).toBeVisible();

  // Repeated connection failures are not an error of the file.
  const isOffline = page.getByRole("alert").getByText(phone.texts.errors.offline);
  const files = "**/api/conversations/*/files/*";
  await page.route(files, (route) => route.abort("connectionreset"));
  await page.getByRole("button", { name: /Pas ici\.pdf/ }).click();
  await expect(isOffline).toBeVisible({ timeout: 60_000 });
  await page.getByRole("alert").getByRole("button").click();
  await page.unroute(files);

  const list = page.getByRole("list", { name: fill(phone.texts.chat.messages, { name: ben.username }) });
  const goToTop = async () => {
    await list.hover();
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, -2_000);
        return page.getByRole("slider").count();
      })
      .toBe(2);
  };
  await goToTop();
  const [long, short] = [page.getByRole("slider").nth(0), page.getByRole("slider").nth(1)];
  const play = page.getByRole("button", { name: new RegExp(`^${texts.playVoice}`) });
  const pause = page.getByRole("button", { name: new RegExp(`^${texts.pauseVoice}`) });
  const heard = async (slider: typeof long) => Number(await slider.inputValue());

  // The long one plays while it downloads.
  await play.first().click();
  await expect.poll(() => heard(long)).toBeGreaterThan(300);
  await long.focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  await expect.poll(() => heard(long)).toBeGreaterThan(10_300);
  await expect(long).toHaveAttribute(
    "aria-valuetext",
    new RegExp(fill(texts.heardOf, { heard: "00:[1-5]\\d", whole: "01:30" })),
  );
  const rate = page.getByRole("button", { name: fill(texts.rate, { rate: "1" }) }).first();
  await rate.click();
  expect(await soundsOf(page)).toEqual([{ paused: false, playbackRate: 1.5 }]);

  // The other one stops it at its position, and starts where its waveform is tapped.
  await short.click({ position: { x: 70, y: 20 } });
  const sought = await heard(short);
  expect(sought).toBeGreaterThan(4_000);
  await play.last().click();
  // Read both together, because the playback ends.
  const inOne = async () => [(await heard(short)) > sought + 300, await pause.count(), await soundsOf(page)];
  await expect.poll(inOne, { intervals: [50] }).toEqual([true, 1, [{ paused: false, playbackRate: 1.5 }]]);
  const left = await heard(long);
  expect(left).toBeGreaterThan(10_000);

  // The playback goes on in other screens, where a bar pauses it, ends it and leads back.
  await play.first().click();
  const areHeard = async () => (await soundsOf(page)).some(({ paused }) => !paused);
  const bar = page.getByRole("region", { name: texts.voicePlaying });
  await expect(bar).toHaveCount(0);
  await page.getByRole("link", { name: phone.texts.common.back }).click();
  await expect(list).toHaveCount(0);
  await expect(bar).toContainText(ben.username);
  expect(await areHeard()).toBe(true);
  expect(await findAxeViolations(page)).toEqual([]);
  await phone.goToTab("senga");
  await expect.poll(areHeard).toBe(true);
  await bar.getByRole("button", { name: texts.pauseVoice }).click();
  await expect.poll(areHeard).toBe(false);
  await bar.getByRole("button", { name: texts.playVoice }).click();
  await expect.poll(areHeard).toBe(true);
  await bar.getByRole("link").click();
  await expect(list).toBeVisible();
  await expect(bar).toHaveCount(0);
  await goToTop();
  await expect.poll(() => heard(long)).toBeGreaterThan(left);
  await expect.poll(() => heard(short)).toBeGreaterThan(sought);
  await page.getByRole("link", { name: phone.texts.common.back }).click();
  await bar.getByRole("button", { name: texts.closeVoice }).click();
  await expect(bar).toHaveCount(0);
  await expect.poll(areHeard).toBe(false);
  await phone.conversation(ben.username).click();
  await goToTop();

  // At its end it starts again.
  await short.focus();
  while ((await heard(short)) < 24_000) await page.keyboard.press("ArrowRight");
  await play.last().click();
  await expect.poll(() => heard(short)).toBe(0);
  await expect(pause).toHaveCount(0);

  // A played message is stored on the device; one that was never fetched says that it is not.
  await waitForOfflineReady(page);
  await phone.context.setOffline(true);
  await page.reload();
  await page.getByRole("button", { name: /Pas ici\.pdf/ }).click();
  await expect(isOffline).toBeVisible();
  // A press in the first moment, before the store was read, counts too.
  await page.evaluate((label) => {
    const presser = new MutationObserver(() => {
      const button = document.querySelector<HTMLElement>(`button[aria-label^="${label}"][aria-label*="(0:28)"]`);
      if (!button) return;
      presser.disconnect();
      button.click();
    });
    presser.observe(document.body, { childList: true, subtree: true });
  }, texts.playVoice);
  await goToTop();
  await expect.poll(() => heard(short)).toBeGreaterThan(300);
  await phone.close();
});
