import type { Locator } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { paste } from "#tests/support/browser/media.ts";
import { onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

/**
 * Writes a word by an input method and accepts it with Enter, or leaves it with Escape, as Safari reports it: the
 * composition ends before the key, which is no longer marked as composing.
 */
const acceptWord = (
  field: Locator,
  key: "Enter" | "Escape" = "Enter",
  modifiers: Pick<KeyboardEventInit, "ctrlKey"> = {},
) =>
  field.evaluate(
    (element: HTMLTextAreaElement, [key, modifiers]) => {
      const bubbling = { bubbles: true, cancelable: true };
      element.focus();
      element.dispatchEvent(new CompositionEvent("compositionstart", bubbling));
      element.dispatchEvent(new CompositionEvent("compositionend", { ...bubbling, data: element.value }));
      element.dispatchEvent(new KeyboardEvent("keydown", { ...bubbling, ...modifiers, key, keyCode: 229 }));
    },
    [key, modifiers] as const,
  );

test("the key that accepts a word of an input method sends and closes nothing, and mentions nobody", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const {
    people: [ana, ben],
  } = await makePair(site, 5210);
  const group = await makeGroup(site, ana, "Famille", [ben]);
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);
  const { page, texts } = anas;
  const composer = anas.composer();
  await composer.fill("会議");
  await acceptWord(composer);
  await expect(composer).toHaveValue("会議");
  await composer.press("Enter");
  await expect(anas.ticks("会議", "sent")).toBeVisible();
  await expect(page.getByRole("main").getByRole("listitem")).toHaveCount(1);

  await composer.press("ArrowUp");
  const edit = page.getByRole("textbox", { name: texts.chat.editTitle });
  await edit.fill("会議室");
  await acceptWord(edit);
  await acceptWord(edit, "Escape");
  await expect(edit).toHaveValue("会議室");
  await edit.press("Enter");
  await expect(anas.message("会議室")).toBeVisible();

  await paste(composer, [{ name: "a.png", mimeType: "image/png", buffer: onePixelPng }]);
  const caption = page.getByRole("dialog").getByRole("textbox");
  await caption.fill("写真");
  await acceptWord(caption);
  await expect(caption).toHaveValue("写真");
  await caption.press("Enter");
  await expect(anas.message("写真")).toBeVisible();

  await anas.openRoute(`/app/group/${group}`);
  await composer.fill("Mbote @");
  await expect(page.getByRole("listbox", { name: texts.chat.mention.list })).toBeVisible();
  await acceptWord(composer);
  await expect(composer).toHaveValue("Mbote @");

  await anas.openRoute("/app/tala");
  await page.getByRole("button", { name: texts.tala.write }).click();
  const status = page.getByRole("textbox", { name: texts.tala.composer });
  await status.fill("お知らせ");
  await acceptWord(status, "Enter", { ctrlKey: true });
  await acceptWord(status, "Escape");
  await expect(status).toHaveValue("お知らせ");
  await anas.close();
});

test("the key that accepts a word sends nothing before the app has loaded", async ({ browser, server }) => {
  const site = toSite(server);
  const {
    people: [ana, ben],
  } = await makePair(site, 5212);
  const id = await makeGroup(site, ana, "Famille", [ben]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ana);
  await holdScripts(client.context);
  await page.goto(`/app/group/${id}`, { waitUntil: "commit" });
  const field = firstView(page).getByRole("textbox");
  await field.fill("会議");
  await acceptWord(field);
  await expect(field).toHaveValue("会議");
  await client.close();
});
