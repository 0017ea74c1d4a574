import type { Locator, Page } from "@playwright/test";
import { fileMaxBytes, imageEdgePx } from "#contract/limits.ts";
import { faultsIn } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { keptChoices } from "#tests/support/browser/kept-choices.ts";
import { dragOver, drop, type MadeFile, makeGif, makePicture, paste, turned } from "#tests/support/browser/media.ts";
import { isKeptOffline, keptOffline } from "#tests/support/browser/offline.ts";
import { fill, type Phone } from "#tests/support/browser/phone.ts";
import { openPair } from "#tests/support/people/pair.ts";

const unaskedMaxBytes = 400_000; // a picture up to this comes by itself

const pdf: MadeFile = {
  name: "facture.pdf",
  mimeType: "application/pdf",
  buffer: Buffer.from(`%PDF-1.4\n${"x".repeat(30_000)}`),
};

const sheetOf = (page: Page): Locator => page.getByRole("dialog");
const sendOf = ({ page, texts }: Phone): Locator =>
  sheetOf(page).getByRole("button", { name: texts.chat.send, exact: true });
const captionOf = ({ page }: Phone): Locator => sheetOf(page).getByRole("textbox");
const messagesOf = ({ page }: Phone): Locator => page.getByRole("main").locator("ol > li");

/** Through the browser's own chooser. */
const pick = async (phone: Phone, what: "file" | "image", files: MadeFile[]): Promise<void> => {
  const chooser = phone.page.waitForEvent("filechooser");
  await phone.attach(what);
  await (await chooser).setFiles(files);
};
const choose = async (phone: Phone, what: "file" | "image", files: MadeFile[]): Promise<void> => {
  await pick(phone, what, files);
  await expect(sheetOf(phone.page)).toBeVisible();
};

/** The picture of the newest message, as large as it came. */
const newestPicture = async (phone: Phone): Promise<{ width: number; height: number }> => {
  const picture = messagesOf(phone).last().locator("button > img");
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  return picture.evaluate(({ naturalWidth, naturalHeight }: HTMLImageElement) => ({
    width: naturalWidth,
    height: naturalHeight,
  }));
};

/** What this phone keeps of the captions of files that are chosen and not sent. */
const keptCaptions = async (page: Page): Promise<string[]> =>
  (await keptChoices(page)).flatMap(({ files }) => files.map(({ caption }) => caption));

/** Answers as a phone without room, when it is: Chromium's own quota does not reach the stores of a private window. */
const limitRoom = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const method of ["add", "put"] as const) {
      const write = IDBObjectStore.prototype[method];
      IDBObjectStore.prototype[method] = function (...rest: Parameters<typeof write>) {
        const isFull = document.documentElement.hasAttribute("data-full") && ["blobs", "outbox"].includes(this.name);
        if (isFull) throw new DOMException("full", "QuotaExceededError");
        return write.apply(this, rest);
      };
    }
  });
const setFull = (page: Page, isFull: boolean): Promise<boolean> =>
  page.evaluate((isFull) => document.documentElement.toggleAttribute("data-full", isFull), isFull);

test("pictures and files go out shrunk, captioned, as originals, pasted, dropped and photographed", async ({
  browser,
  server,
}) => {
  const { phones, people } = await openPair(browser, server, 3400);
  const [anas, bens] = phones;
  const { page, texts } = anas;
  const { attach, camera } = texts.chat;
  const photo = await makePicture(page, "fête.jpg", { width: 2_400, height: 1_800, type: "image/jpeg" });
  expect(photo.buffer.length).toBeLessThan(unaskedMaxBytes);
  const small = await makePicture(page, "petite.png", { width: 60, height: 40, type: "image/png" });

  // What is chosen before the code of the sheet is here waits in its chat, though one leaves it and comes back meanwhile.
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await page.route("**/assets/sending-*", (route) => held.then(() => route.continue()));
  const asked = page.waitForRequest("**/assets/sending-*");
  await pick(anas, "image", [photo, turned(photo)]);
  await asked;
  await page.getByRole("link", { name: people[1].username }).first().click();
  await expect(anas.composer()).toHaveCount(0);
  await page.goBack();
  await expect(anas.composer()).toBeVisible();
  letOn();
  await expect(sheetOf(page)).toBeVisible();

  // One chosen by mistake is taken out; what cannot go is not counted and says why; the caption belongs to its picture.
  const empty = { name: "vide.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) };
  await sheetOf(page).locator("input[type=file]").setInputFiles([empty]);
  await expect(sheetOf(page).getByRole("listitem")).toHaveCount(4); // with the button that adds more
  await expect(sheetOf(page)).toContainText(fill(attach.title_other, { count: 2 }));
  await page.getByRole("button", { name: fill(attach.show, { name: "vide.txt" }) }).click();
  await expect(sheetOf(page).getByRole("alert")).toHaveText(attach.empty);
  await page.getByRole("button", { name: fill(attach.remove, { name: "vide.txt" }) }).click();
  await page
    .getByRole("button", { name: fill(attach.show, { name: "fête.jpg" }) })
    .first()
    .click();
  await captionOf(anas).fill("Toute la famille");

  // Its page dies with the sheet open: what was chosen and written is there again, in its order.
  await expect.poll(() => keptCaptions(page)).toContain("Toute la famille");
  await page.reload();
  await expect(captionOf(anas)).toHaveValue("Toute la famille");
  await expect(sheetOf(page)).toContainText(fill(attach.title_other, { count: 2 }));
  await expect(sheetOf(page).getByRole("checkbox", { name: attach.original_other })).not.toBeChecked();
  const looks = await faultsIn(page);
  expect(looks).toEqual([]);

  // It is not left unasked, not even on a page that nobody touched yet, nor with the browser's chooser of more files.
  const question = page.getByRole("alertdialog", { name: attach.discardTitle });
  const stay = question.getByRole("button", { name: attach.discardStay });
  await page.keyboard.press("Escape");
  await expect(stay).toBeFocused();
  await stay.click();
  await expect(question).toHaveCount(0);
  await sheetOf(page).locator("input[type=file]").dispatchEvent("cancel");
  await expect(question).toHaveCount(0);
  await sheetOf(page).getByRole("button", { name: texts.common.cancel }).click();
  await expect(stay).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(question).toHaveCount(0);
  await expect(captionOf(anas)).toHaveValue("Toute la famille");
  await expect(sheetOf(page)).toContainText(fill(attach.title_other, { count: 2 }));
  await captionOf(anas).press("Enter");
  await expect(sheetOf(page)).toHaveCount(0);
  await expect(messagesOf(bens)).toHaveCount(2);
  await expect.poll(() => keptCaptions(page)).toEqual([]);
  await expect(messagesOf(bens).first()).toContainText("Toute la famille");
  // The second lay on its side and stands upright.
  await expect.poll(() => newestPicture(bens)).toMatchObject({ width: 1_200, height: imageEdgePx });

  // The original keeps its size and, of few bytes, comes by itself; a small picture and a moving one are what they were.
  await choose(anas, "image", [photo]);
  await sheetOf(page).getByRole("checkbox", { name: attach.original_one }).check();
  await sendOf(anas).click();
  await expect(messagesOf(bens)).toHaveCount(3);
  await expect.poll(() => newestPicture(bens)).toMatchObject({ width: 2_400, height: 1_800 });
  await paste(anas.composer(), [small, makeGif("danse.gif")]);
  await expect(sheetOf(page)).toContainText(fill(attach.title_other, { count: 2 }));
  await expect(sheetOf(page).getByRole("img", { name: "petite.png" })).toBeVisible();
  await sendOf(anas).click();
  await expect(messagesOf(bens)).toHaveCount(5);
  await expect.poll(() => newestPicture(bens)).toMatchObject({ width: 1, height: 1 });

  // Dropped, with one that is too large for anybody and one that is empty: they stay, and are named with the reason.
  await dragOver(page);
  const zone = page.getByText(attach.drop);
  await expect(zone).toBeVisible();
  await drop(zone, [pdf]);
  await expect(zone).toHaveCount(0);
  await sheetOf(page)
    .locator("input[type=file]")
    .setInputFiles([{ name: "film.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(fileMaxBytes + 1) }, empty]);
  await page.getByRole("button", { name: fill(attach.show, { name: "film.mp4" }) }).click();
  await expect(sheetOf(page).getByRole("alert")).toHaveText(attach.tooLarge);
  await page.getByRole("button", { name: fill(attach.show, { name: empty.name }) }).click();
  await expect(sheetOf(page).getByRole("alert")).toHaveText(attach.empty);
  await sendOf(anas).click();
  const toast = page.getByRole("alert").filter({ hasText: fill(attach.left_other, { count: 2 }) });
  await expect(toast).toContainText(fill(attach.leftWhy, { name: "film.mp4", why: attach.tooLarge }));
  await expect(toast).toContainText(fill(attach.leftWhy, { name: empty.name, why: attach.empty }));
  await expect(messagesOf(bens)).toHaveCount(6);
  await expect(messagesOf(bens).last()).toContainText("facture");

  // Photographed; the sheet can be left without sending, and the focus is back where it was.
  await anas.attach("camera");
  await page.getByRole("button", { name: camera.shutter }).click();
  await expect(sheetOf(page)).toContainText(fill(attach.title_one, { count: 1 }));
  await sendOf(anas).click();
  await expect(messagesOf(bens)).toHaveCount(7);
  expect((await newestPicture(bens)).width).toBeGreaterThan(100);
  await choose(anas, "file", [pdf]);
  await page.keyboard.press("Escape");
  await expect(sheetOf(page)).toHaveCount(0);
  await expect(messagesOf(anas)).toHaveCount(7);
  await anas.close();
  await bens.close();
});

test("what is attached offline is queued and arrives once, and a full phone loses nothing", async ({
  browser,
  server,
}) => {
  const { phones } = await openPair(browser, server, 3402, "fr", keptOffline);
  const [anas, bens] = phones;
  const { page, texts } = anas;
  const photo = await makePicture(page, "marché.jpg", { width: 2_000, height: 1_000, type: "image/jpeg" });
  await isKeptOffline(page);

  await anas.context.setOffline(true);
  await choose(anas, "file", [photo, pdf]);
  await captionOf(anas).fill("Sans réseau");
  await sendOf(anas).click();
  await expect(messagesOf(anas)).toHaveCount(2);
  await anas.write("et un texte");
  await anas.context.setOffline(false);
  await expect(bens.message("et un texte")).toBeVisible();
  await expect(messagesOf(bens)).toHaveCount(3);
  await expect(bens.message("Sans réseau")).toHaveCount(1);
  await expect(messagesOf(anas).getByRole("img", { name: texts.chat.status.read, exact: true })).toHaveCount(3);
  await bens.page.reload();
  await expect(messagesOf(bens)).toHaveCount(3);

  // A full phone: the file stays in its sheet, and words still go.
  await limitRoom(page);
  await setFull(page, true);
  const large = { name: "grand.bin", mimeType: "", buffer: Buffer.alloc(300_000, 7) };
  await choose(anas, "file", [large]);
  await captionOf(anas).fill("Ma légende");
  await sendOf(anas).click();
  await expect(sheetOf(page).getByRole("alert")).toHaveText(texts.chat.attach.noRoom);
  await expect(captionOf(anas)).toHaveValue("Ma légende");
  await expect(messagesOf(anas)).toHaveCount(3);
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog").getByRole("button", { name: texts.chat.attach.discardConfirm }).click();
  await expect(sheetOf(page)).toHaveCount(0);
  await anas.write("plus de place");
  await expect(bens.message("plus de place")).toBeVisible();
  await setFull(page, false);
  await choose(anas, "file", [large]);
  await captionOf(anas).fill("Ma légende");
  await sendOf(anas).click();
  await expect(bens.message("Ma légende")).toBeVisible();
  await expect(messagesOf(bens)).toHaveCount(5);
  await anas.close();
  await bens.close();
});
