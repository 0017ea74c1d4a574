import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { dragOver, paste } from "#tests/support/browser/media.ts";
import { onePixelPng, type TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { openPair } from "#tests/support/people/pair.ts";

/** Time in which a message that counts as seen is reported as read, several times over. */
const readMs = 2_500;

type Layer = {
  name: string;
  open: (reader: TestClient, page: Page) => Promise<unknown>;
  close?: (reader: TestClient, page: Page) => Promise<unknown>;
};

const openMessageMenu = (reader: TestClient): Promise<void> =>
  reader.message("à lire").locator("bdi").first().click({ button: "right" });

const layers: Layer[] = [
  { name: "picture", open: (_, page) => page.getByRole("main").locator("li button > img").first().click() },
  {
    name: "gallery",
    open: async ({ texts }, page) => {
      await page.getByRole("button", { name: texts.common.more, exact: true }).click();
      await page.getByRole("menuitem", { name: texts.gallery.title, exact: true }).click();
    },
  },
  { name: "message menu", open: openMessageMenu },
  {
    name: "dialog",
    open: async (reader, page) => {
      await openMessageMenu(reader);
      await page.getByRole("menuitem", { name: reader.texts.common.delete, exact: true }).click();
    },
  },
  {
    name: "sheet of attachments",
    open: (reader) => paste(reader.composer(), [{ name: "a.png", mimeType: "image/png", buffer: onePixelPng }]),
    close: async ({ texts }, page) => {
      await page.getByRole("button", { name: texts.common.cancel, exact: true }).click();
      const confirm = page.getByRole("button", { name: texts.chat.attach.discardConfirm });
      if (await confirm.isVisible()) await confirm.click();
    },
  },
  { name: "camera", open: (reader) => reader.attach("camera") },
  {
    name: "call",
    open: (_, page) => page.getByRole("button", { name: /^Appel audio/ }).click(),
    close: ({ texts }, page) => page.getByRole("dialog").getByRole("button", { name: texts.calls.hangUp }).click(),
  },
  {
    name: "drop zone",
    open: (_, page) => dragOver(page),
    close: (_, page) => page.evaluate(() => document.dispatchEvent(new DragEvent("drop"))),
  },
];

test("a message that arrives behind a layer is read once the layer is closed, and not before", async ({
  browser,
  server,
}) => {
  const { site, people, conversation, phones } = await openPair(browser, server, 5220);
  const [ana] = people;
  const [anas, bens] = phones;
  const { page } = bens;
  await paste(anas.composer(), [{ name: "a.png", mimeType: "image/png", buffer: onePixelPng }]);
  await anas.page.getByRole("dialog").getByRole("button", { name: anas.texts.chat.send, exact: true }).click();
  await expect(anas.page.getByRole("dialog")).toHaveCount(0);
  await anas.write("à lire");
  await expect(anas.ticks("à lire", "read")).toBeVisible();
  for (const { name, open, close = () => page.keyboard.press("Escape") } of layers) {
    await test.step(name, async () => {
      await open(bens, page);
      await expect(page.locator("dialog[open]").or(page.getByText(bens.texts.chat.attach.drop)).first()).toBeVisible();
      await sendTexts(site, ana, conversation, [`derrière ${name}`]); // a call covers her composer too
      await expect(bens.message(`derrière ${name}`)).toHaveCount(1);
      await bens.page.waitForTimeout(readMs);
      await expect(anas.ticks(`derrière ${name}`, "delivered")).toBeVisible();
      await close(bens, page);
      await expect(anas.ticks(`derrière ${name}`, "read")).toBeVisible();
    });
  }
  for (const { context } of phones) await context.close();
});
