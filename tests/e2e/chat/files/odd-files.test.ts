import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

const sheetOf = (page: Page): Locator => page.getByRole("dialog");
const messagesOf = (page: Page): Locator => page.getByRole("main").locator("ol > li");

/** Drags files and folders of this machine over the message field and drops them there. */
const dropPaths = async (page: Page, target: Locator, files: string[]): Promise<void> => {
  const { x, y, width, height } = (await target.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const session = await page.context().newCDPSession(page);
  const place = { x: x + width / 2, y: y - height, data: { items: [], files, dragOperationsMask: 1 } };
  for (const type of ["dragEnter", "dragOver", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, ...place });
  await session.detach();
};

test("a damaged photo and one of an unknown format are named before they are sent as files, and a dropped folder is refused", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 3_430);
  const [ana, ben] = people;
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);
  const { page, texts } = anas;
  const { attach } = texts.chat;
  const whole = await makePicture(page, "marché.jpg", { width: 2_000, height: 1_000, type: "image/jpeg" });
  const damaged = { ...whole, name: "abîmée.jpg", buffer: whole.buffer.subarray(0, whole.buffer.length / 2) };
  const heic = { name: "PHOTO.HEIC", mimeType: "", buffer: Buffer.from("\0\0\0\u0018ftypheic\0\0\0\0mif1heic") };
  const chooser = page.waitForEvent("filechooser");
  await anas.attach("image");
  await (await chooser).setFiles([whole, damaged]);
  const notice = sheetOf(page).getByRole("alert");
  await expect(notice).toHaveText(fill(attach.asFile_one, { count: 1 }));
  await expect(sheetOf(page)).toContainText(fill(attach.title_other, { count: 2 }));
  await sheetOf(page).locator("input[type=file]").setInputFiles([heic]);
  await expect(notice).toHaveText(fill(attach.asFile_other, { count: 2 }));
  // Without them only the photo is left, and the notice is gone.
  for (const { name } of [damaged, heic]) {
    await page.getByRole("button", { name: fill(attach.show, { name }) }).click();
    await page.getByRole("button", { name: fill(attach.remove, { name }) }).click();
  }
  await expect(sheetOf(page)).toContainText(fill(attach.photos_one, { count: 1 }));
  await expect(notice).toHaveCount(0);
  await sheetOf(page).locator("input[type=file]").setInputFiles([damaged]);
  await expect(notice).toHaveText(fill(attach.asFile_one, { count: 1 }));
  await sheetOf(page).getByRole("button", { name: texts.chat.send, exact: true }).click();
  await expect(messagesOf(page)).toHaveCount(2);
  await expect(messagesOf(page).last()).toContainText("abîmée.jpg");
  await expect(messagesOf(page).getByRole("img", { name: texts.chat.status.sent, exact: true })).toHaveCount(2);

  // The files dropped together with a folder are taken.
  const folder = mkdtempSync(join(tmpdir(), "album-"));
  writeFileSync(join(folder, "foto.txt"), "dentro");
  const file = join(folder, "foto.txt");
  await dropPaths(page, anas.composer(), [folder]);
  await expect(findToast(page)).toContainText(attach.folder);
  await expect(sheetOf(page)).toHaveCount(0);
  await findToast(page).getByRole("button", { name: texts.common.close }).click();
  await dropPaths(page, anas.composer(), [folder, file]);
  await expect(sheetOf(page)).toContainText(fill(attach.title_one, { count: 1 }));
  await expect(findToast(page)).toContainText(attach.folder);
  rmSync(folder, { recursive: true });
  await anas.close();
});
