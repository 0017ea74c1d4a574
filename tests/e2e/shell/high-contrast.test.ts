import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

/** Number of colours that an element shows. Computed styles do not have the forced ones. */
const countColours = async (element: Locator): Promise<number> => {
  const picture = (await element.screenshot()).toString("base64");
  return element.page().evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const { width, height } = image;
    const drawing = new OffscreenCanvas(width, height).getContext("2d");
    drawing?.drawImage(image, 0, 0);
    return new Set(new Uint32Array(drawing?.getImageData(0, 0, width, height).data.buffer ?? new ArrayBuffer())).size;
  }, picture);
};

/** Looks at one icon of each class. */
const expectVisibleIcons = async (page: Page): Promise<void> => {
  const seen = new Set<string | null>();
  for (const icon of await page.locator("[class*='i-ph-']:visible").all()) {
    const name = await icon.getAttribute("class");
    // Some appear only below the pointer.
    const isShown = await icon.evaluate((element) => element.checkVisibility({ opacityProperty: true }));
    if (seen.has(name) || !isShown) continue;
    expect(await countColours(icon), `${name}`).toBeGreaterThan(1);
    seen.add(name);
  }
  expect(seen.size).toBeGreaterThan(5);
};

test("icons, buttons and bubbles are visible in the colours of a person who needs high contrast", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9896);
  const [ana, ben] = people;
  await sendTexts(site, ben, conversation, ["Bonjour"]);
  await sendTexts(site, ana, conversation, ["Ça va ?"]);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
  await phone.signInToChat(ana, ben.id);
  for (const text of ["Bonjour", "Ça va ?"])
    await expect(page.locator(".rounded-bubble", { hasText: text })).toHaveCSS("outline-style", "solid");
  await expectVisibleIcons(page);
  await phone.openRoute("/app/profile");
  await expect(page.getByText(texts.profile.deleteAccount)).toBeVisible();
  await expectVisibleIcons(page);
  await phone.close();
});
