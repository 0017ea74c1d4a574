import type { Locator, Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { openPair } from "#tests/support/people/pair.ts";

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

const expectVisibleIcons = async (page: Page): Promise<void> => {
  let count = 0;
  for (const icon of await page.locator("[class*='i-ph-']:visible").all()) {
    // Some appear only below the pointer.
    if (!(await icon.evaluate((element) => element.checkVisibility({ opacityProperty: true })))) continue;
    expect(await countColours(icon), `${await icon.getAttribute("class")}`).toBeGreaterThan(1);
    count++;
  }
  expect(count).toBeGreaterThan(5);
};

test("icons, buttons and bubbles are visible in the colours of a person who needs high contrast", async ({
  browser,
  server,
}) => {
  const { phones } = await openPair(browser, server, 9896, "fr");
  const [anas, bens] = phones;
  const { page, texts } = anas;
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
  await bens.write("Bonjour");
  await expect(page.getByText("Bonjour", { exact: true })).toBeVisible();
  await anas.write("Ça va ?");
  await expect(bens.page.getByText("Ça va ?", { exact: true })).toBeVisible();
  await expectVisibleIcons(page);
  for (const text of ["Bonjour", "Ça va ?"])
    await expect(page.locator(".rounded-bubble", { hasText: text })).toHaveCSS("outline-style", "solid");
  await page.goto("/app/profile");
  await expect(page.getByText(texts.profile.deleteAccount)).toBeVisible();
  await expectVisibleIcons(page);
});
