// Takes the pictures of the README and those that a browser shows before it installs the app
// (src/prerender/web-manifest.ts), from a server started with `npm start -- --demo`:
// node scripts/local/take-screenshots.mjs [address]
// The machine needs a font with emoji, such as Debian's fonts-noto-color-emoji.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { root } from "#scripts/run.mjs";
import { chromiumFlags, findChromium } from "./chromium.mjs";

const address = process.argv[2] ?? "http://localhost:8787";
const webpQuality = 40;
const pictureLoadMs = 10_000; // avatars and photos replace their placeholders
const narrow = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const wide = { viewport: { width: 1280, height: 800 } };

const browser = await chromium.launch({ executablePath: await findChromium(), args: chromiumFlags });

/** Opens the demo's list of conversations. */
async function openList(size) {
  const context = await browser.newContext({ ...size, locale: "fr-FR", colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(`${address}/login`);
  await page.locator("input[type=tel]").fill("+243810000001");
  await page.locator("input[type=password]").fill("Mokolo-ya-2026");
  await page.locator("button[type=submit]").click();
  await page.waitForURL("**/app");
  await page.locator('a[href^="/app/chat/"]').first().waitFor();
  await page.getByText("Connexion réussie").waitFor({ state: "hidden" });
  return page;
}

async function openChat(page) {
  await page.locator('a[href^="/app/chat/"]').first().click();
  await page.locator("textarea").waitFor();
}

/**
 * Writes a picture as WebP, which Playwright itself does not offer.
 * @param {number} density pixels of the picture for each pixel of CSS
 */
async function takePicture(page, path, density) {
  const devtools = await page.context().newCDPSession(page);
  const clip = { x: 0, y: 0, ...page.viewportSize(), scale: density };
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: webpQuality, clip });
  writeFileSync(join(root, path), Buffer.from(data, "base64"));
}

async function waitForPictures(page) {
  await page.mouse.move(1, 1);
  await page.waitForTimeout(pictureLoadMs);
}

try {
  const phone = await openList(narrow);
  await waitForPictures(phone);
  await takePicture(phone, "public/screenshot-list.webp", 1);
  await openChat(phone);
  await waitForPictures(phone);
  await takePicture(phone, "public/screenshot-chat.webp", 1);
  await takePicture(phone, "docs/phone.webp", 2);
  const computer = await openList(wide);
  await openChat(computer);
  await waitForPictures(computer);
  await takePicture(computer, "public/screenshot-wide.webp", 1);
  await takePicture(computer, "docs/desktop.webp", 2);
} finally {
  await browser.close();
}
