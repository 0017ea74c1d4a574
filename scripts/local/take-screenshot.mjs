// Takes the README's screenshot, a chat of the demo in two panes, from a server started with `npm start -- --demo`:
// node scripts/local/take-screenshot.mjs [address]
// Reduce its colours before committing it; it should stay below 120 kB.
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { root } from "#scripts/run.mjs";
import { chromiumFlags, findChromium } from "./chromium.mjs";

const address = process.argv[2] ?? "http://localhost:8787";
const browser = await chromium.launch({ executablePath: await findChromium(), args: chromiumFlags });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: "fr-FR", colorScheme: "light" });
  await page.goto(`${address}/login`);
  await page.locator("input[type=tel]").fill("+243810000001");
  await page.locator("input[type=password]").fill("Mokolo-ya-2026");
  await page.locator("button[type=submit]").click();
  await page.waitForURL("**/app");
  await page.locator('a[href^="/app/chat/"]').first().click();
  await page.locator("textarea").waitFor();
  await page.getByText("Connexion réussie").waitFor({ state: "hidden" });
  await page.mouse.move(1279, 400);
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(root, "docs/lisolo.png"), animations: "disabled" });
} finally {
  await browser.close();
}
