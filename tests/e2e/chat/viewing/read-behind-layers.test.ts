import type { Page } from "@playwright/test";
import { messageInfoPath } from "#contract/wire/message-info.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { sendPicture } from "#tests/support/browser/chat-files.ts";
import { dragOver, paste } from "#tests/support/browser/media.ts";
import { onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";
import { readServerMessages } from "#tests/support/server/logs.ts";

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
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 5220);
  const [ana, ben] = people;
  await sendPicture(site, ana, conversation, "a.png");
  await sendTexts(site, ana, conversation, ["à lire"]);
  const phone = await TestClient.open(browser, server);
  await phone.signInToChat(ben, ana.id);
  const { page } = phone;
  let newest = 2;
  const readInfo = async () =>
    (await callSite(site, "GET", messageInfoPath(conversation, newest), { token: ana.token })).body;
  const delivered = { delivered: expect.anything(), read: null };
  const read = { delivered: expect.anything(), read: expect.anything() };
  await expect.poll(readInfo).toEqual(read);
  for (const { name, open, close = () => page.keyboard.press("Escape") } of layers) {
    await test.step(name, async () => {
      await open(phone, page);
      await expect(page.locator("dialog[open]").or(page.getByText(phone.texts.chat.attach.drop)).first()).toBeVisible();
      await sendTexts(site, ana, conversation, [`derrière ${name}`]);
      newest = (await readServerMessages(site, ana, conversation)).at(-1)?.seq ?? 0;
      await expect(phone.message(`derrière ${name}`)).toHaveCount(1);
      await page.waitForTimeout(readMs);
      expect(await readInfo()).toEqual(delivered);
      await close(phone, page);
      await expect.poll(readInfo).toEqual(read);
    });
  }
  await phone.context.close();
});
