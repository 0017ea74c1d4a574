import { utimesSync, writeFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { fileMaxBytes, imageEdgePx } from "#contract/limits/files.ts";
import { readAttachmentDrafts } from "#tests/support/browser/attachment-drafts.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { dragOver, drop, type MadeFile, makeGif, makePicture, paste, rotate } from "#tests/support/browser/media.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import type { Person, Site } from "#tests/support/people/people.ts";
import { readServerMessages } from "#tests/support/server/logs.ts";

const pdf: MadeFile = {
  name: "facture.pdf",
  mimeType: "application/pdf",
  buffer: Buffer.from(`%PDF-1.4\n${"x".repeat(30_000)}`),
};

const sheetOf = (page: Page): Locator => page.getByRole("dialog");
const sendOf = ({ page, texts }: TestClient): Locator =>
  sheetOf(page).getByRole("button", { name: texts.chat.send, exact: true });
const captionOf = ({ page }: TestClient): Locator => sheetOf(page).getByRole("textbox");
const messagesOf = ({ page }: TestClient): Locator => page.getByRole("main").locator("ol > li");

/** Through the browser's own file chooser. */
const pick = async (phone: TestClient, what: "file" | "image", files: MadeFile[]): Promise<void> => {
  const chooser = phone.page.waitForEvent("filechooser");
  await phone.attach(what);
  await (await chooser).setFiles(files);
};
const choose = async (phone: TestClient, what: "file" | "image", files: MadeFile[]): Promise<void> => {
  await pick(phone, what, files);
  await expect(sheetOf(phone.page)).toBeVisible();
};

/** What arrived for a member: size and caption of pictures, name and caption of files, and texts. */
const readArrived = async (
  site: Site,
  reader: Person,
  conversation: string,
): Promise<(string | (string | number)[])[]> =>
  (await readServerMessages(site, reader, conversation)).map(({ body }) => {
    if (body.type === "image") return [body.width, body.height, ...(body.text ? [body.text] : [])];
    if (body.type === "file") return body.text ? `${body.name}: ${body.text}` : body.name;
    return body.type === "text" ? body.text : body.type;
  });

/** Captions of the attachment drafts stored on this device. */
const keptCaptions = async (page: Page): Promise<string[]> =>
  (await readAttachmentDrafts(page)).flatMap(({ files }) => files.map(({ caption }) => caption));

/**
 * Makes the storage report that it is full, when asked to: Chromium's own quota does not apply to the stores of a
 * private window.
 */
const limitRoom = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const method of ["add", "put"] as const) {
      const write = IDBObjectStore.prototype[method];
      IDBObjectStore.prototype[method] = function (...rest: Parameters<typeof write>) {
        const isFull = document.documentElement.hasAttribute("data-full") && ["bytes", "outbox"].includes(this.name);
        if (isFull) throw new DOMException("full", "QuotaExceededError");
        return write.apply(this, rest);
      };
    }
  });
const setFull = (page: Page, isFull: boolean): Promise<boolean> =>
  page.evaluate((isFull) => document.documentElement.toggleAttribute("data-full", isFull), isFull);

test("pictures and files are sent reduced, captioned, as originals, pasted, dropped and photographed", async ({
  browser,
  server,
}, testInfo) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 3400);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);
  const { page, texts } = anas;
  const arrived = () => readArrived(site, ben, conversation);
  const { attach, camera } = texts.chat;
  const photo = await makePicture(page, "fête.jpg", { width: 2_400, height: 1_800, type: "image/jpeg" });
  const small = await makePicture(page, "petite.png", { width: 60, height: 40, type: "image/png" });

  // Files chosen before the sheet's code is loaded wait in their chat, even if the user leaves and comes back
  // meanwhile.
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await page.route("**/assets/attach-sheet-*", (route) => held.then(() => route.continue()));
  const asked = page.waitForRequest("**/assets/attach-sheet-*");
  await pick(anas, "image", [photo, rotate(photo)]);
  await asked;
  await page.getByRole("link", { name: ben.username }).first().click();
  await expect(anas.composer()).toHaveCount(0);
  await page.goBack();
  await expect(anas.composer()).toBeVisible();
  letOn();
  await expect(sheetOf(page)).toBeVisible();
  // Resized in the worker: if it could not start, the page would do it by itself.
  await expect
    .poll(() => page.workers().map((worker) => worker.url()))
    .toContainEqual(expect.stringContaining("/assets/image-worker-"));

  // A file can be removed; a refused file is not counted and has a reason; each caption belongs to its picture.
  const empty = { name: "vide.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) };
  await sheetOf(page).locator("input[type=file]").setInputFiles([empty]);
  await expect(sheetOf(page).getByRole("listitem")).toHaveCount(4); // with the button that adds more
  await expect(sheetOf(page)).toContainText(fill(attach.photos_other, { count: 2 }));
  await page.getByRole("button", { name: fill(attach.show, { name: "vide.txt" }) }).click();
  await expect(sheetOf(page).getByRole("alert")).toHaveText(attach.empty);
  await page.getByRole("button", { name: fill(attach.remove, { name: "vide.txt" }) }).click();
  await page
    .getByRole("button", { name: fill(attach.show, { name: "fête.jpg" }) })
    .first()
    .click();
  await captionOf(anas).fill("Toute la famille");

  // Its page crashes with the sheet open: the files and captions are restored in order.
  await expect.poll(() => keptCaptions(page)).toContain("Toute la famille");
  await page.reload();
  await expect(captionOf(anas)).toHaveValue("Toute la famille");
  await expect(sheetOf(page)).toContainText(fill(attach.photos_other, { count: 2 }));
  await expect(sheetOf(page).getByRole("checkbox", { name: attach.original_other })).not.toBeChecked();
  const looks = await findAxeViolations(page);
  expect(looks).toEqual([]);

  // Leaving needs a confirmation, also on a page that was not touched yet, and with the browser's chooser open.
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
  await expect(sheetOf(page)).toContainText(fill(attach.photos_other, { count: 2 }));
  await captionOf(anas).press("Enter");
  await expect(sheetOf(page)).toHaveCount(0);
  await expect(messagesOf(anas)).toHaveCount(2);
  await expect.poll(() => keptCaptions(page)).toEqual([]);
  await expect(messagesOf(anas).first()).toContainText("Toute la famille");
  // The second picture was taken sideways and is upright.
  const reduced = [
    [imageEdgePx, 1_200, "Toute la famille"],
    [1_200, imageEdgePx],
  ];
  await expect.poll(arrived).toEqual(reduced);

  // An original keeps its size; small and animated pictures are not changed.
  await choose(anas, "image", [photo]);
  await sheetOf(page).getByRole("checkbox", { name: attach.original_one }).check();
  await sendOf(anas).click();
  await expect.poll(arrived).toEqual([...reduced, [2_400, 1_800]]);
  await paste(anas.composer(), [small, makeGif("danse.gif")]);
  await expect(sheetOf(page)).toContainText(fill(attach.photos_other, { count: 2 }));
  await expect(sheetOf(page).getByRole("img", { name: "petite.png" })).toBeVisible();
  await sendOf(anas).click();
  await expect
    .poll(async () => (await arrived()).slice(3))
    .toEqual([
      [60, 40],
      [1, 1],
    ]);

  // Dropped files, with one that is too large for anybody and an empty one: both stay listed with the reason.
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
  await expect.poll(async () => (await arrived()).slice(5)).toEqual(["facture.pdf"]);

  // Taken with the camera. The sheet can be closed without sending, and the focus returns.
  await anas.attach("camera");
  await page.getByRole("button", { name: camera.shutter }).click();
  await expect(sheetOf(page)).toContainText(fill(attach.photos_one, { count: 1 }));
  await sendOf(anas).click();
  await expect.poll(async () => Number((await arrived())[6]?.[0])).toBeGreaterThan(100);
  const filePath = testInfo.outputPath("facture.pdf");
  writeFileSync(filePath, pdf.buffer);
  utimesSync(filePath, 1_700_000_000, 1_700_000_000);
  const chooser = page.waitForEvent("filechooser");
  await anas.attach("file");
  await (await chooser).setFiles(filePath);
  await expect(sheetOf(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(sheetOf(page)).toHaveCount(0);
  await expect(messagesOf(anas)).toHaveCount(7);
  await anas.close();
});

test("a photo that was just taken is asked about before it is lost, also from its draft; wide screens have more buttons", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 5230);
  const [ana, ben] = people;
  const phone = await TestClient.open(browser, server);
  await phone.signInToChat(ana, ben.id);
  const { page, texts } = phone;
  const { attach, camera } = texts.chat;
  const question = page.getByRole("alertdialog", { name: attach.discardTitle });
  await phone.attach("camera");
  await page.getByRole("button", { name: camera.shutter }).click();
  await expect(sheetOf(page)).toContainText(fill(attach.photos_one, { count: 1 }));
  await page.goBack();
  await question.getByRole("button", { name: attach.discardStay }).click();
  await page.keyboard.press("Escape");
  await expect(question).toContainText(attach.discardOnlyCopy);
  await question.getByRole("button", { name: attach.discardStay }).click();
  await expect(sheetOf(page).getByRole("img").first()).toBeVisible();
  await expect.poll(async () => (await readAttachmentDrafts(page)).length).toBe(1);
  await page.reload();
  await expect(sheetOf(page)).toContainText(fill(attach.photos_one, { count: 1 }));
  await page.keyboard.press("Escape");
  await question.getByRole("button", { name: attach.discardConfirm }).click();
  await expect(sheetOf(page)).toHaveCount(0);
  await expect.poll(async () => (await readAttachmentDrafts(page)).length).toBe(0);

  // From 640 px on, files and images have buttons of their own beside the menu.
  const buttons = [texts.chat.attach.file, texts.chat.attach.image].map((name) =>
    page.getByRole("button", { name, exact: true }),
  );
  const menu = page.getByRole("button", { name: texts.chat.attach.menu, exact: true });
  for (const button of buttons) await expect(button).toBeHidden();
  for (const width of [640, 1_280]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(menu).toBeVisible();
    for (const [index, button] of buttons.entries()) {
      await expect(button).toBeVisible();
      const chooser = page.waitForEvent("filechooser");
      await button.click();
      expect(await (await chooser).element().getAttribute("accept")).toBe(index === 0 ? "" : "image/*");
    }
  }
  const chooser = page.waitForEvent("filechooser");
  await buttons[1]?.click();
  await (await chooser).setFiles([await makePicture(page, "vue.png", { width: 400, height: 300, type: "image/png" })]);
  await sendOf(phone).click();
  await expect(messagesOf(phone).last().getByRole("img", { name: texts.chat.status.sent, exact: true })).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);
  await phone.close();
});

test("attachments added offline say what they wait for and arrive once, and a full phone loses nothing", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 3402);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server, "pt", withServiceWorker);
  await anas.signInToChat(ana, ben.id);
  const { page, texts } = anas;
  const arrived = () => readArrived(site, ben, conversation);
  const photo = await makePicture(page, "marché.jpg", { width: 2_000, height: 1_000, type: "image/jpeg" });
  await waitForOfflineReady(page);

  await anas.context.setOffline(true);
  await choose(anas, "file", [photo, pdf]);
  await captionOf(anas).fill("Sans réseau");
  await sendOf(anas).click();
  await expect(messagesOf(anas)).toHaveCount(2);
  const waiting = anas.message("Sans réseau");
  await expect(waiting).toContainText(texts.messages.uploadWaiting);
  await expect(waiting.getByRole("button", { name: texts.messages.pauseUpload })).toHaveCount(0);
  // Deleting it needs a confirmation.
  await waiting.getByRole("button", { name: texts.messages.cancelUpload }).click();
  const question = page.getByRole("alertdialog", { name: texts.messages.deleteUnsentTitle });
  await question.getByRole("button", { name: texts.common.cancel }).click();
  await expect(waiting).toContainText(texts.messages.uploadWaiting);
  await anas.write("et un texte");
  await anas.context.setOffline(false);
  await expect(messagesOf(anas).getByRole("img", { name: texts.chat.status.sent, exact: true })).toHaveCount(3);
  await expect(waiting).not.toContainText(texts.messages.uploadWaiting);
  const files = await arrived();
  expect(files).toHaveLength(3);
  expect(files).toEqual(
    expect.arrayContaining([[imageEdgePx, imageEdgePx / 2, "Sans réseau"], "facture.pdf", "et un texte"]),
  );

  // Full storage: the file stays in its sheet, and texts can still be sent.
  await limitRoom(page);
  await setFull(page, true);
  const large = { name: "grand.bin", mimeType: "", buffer: Buffer.alloc(300_000, 7) };
  await choose(anas, "file", [large]);
  await expect(sheetOf(page).getByRole("alert")).toHaveText(texts.chat.notKept);
  await captionOf(anas).fill("Ma légende");
  await sendOf(anas).click();
  await expect(sheetOf(page).getByRole("alert")).toHaveText(texts.chat.attach.noRoom);
  await expect(captionOf(anas)).toHaveValue("Ma légende");
  await expect(messagesOf(anas)).toHaveCount(3);
  await page.keyboard.press("Escape");
  await page.getByRole("alertdialog").getByRole("button", { name: texts.chat.attach.discardConfirm }).click();
  await expect(sheetOf(page)).toHaveCount(0);
  await anas.write("plus de place");
  await expect(anas.ticks("plus de place", "sent")).toBeVisible();
  await setFull(page, false);
  await choose(anas, "file", [large]);
  await captionOf(anas).fill("Ma légende");
  await sendOf(anas).click();
  await expect.poll(async () => (await arrived()).slice(3)).toEqual(["plus de place", "grand.bin: Ma légende"]);
  await anas.close();
});
