import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import type { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

type Cut = { count: number; restore: () => void };

/** Makes requests for these scripts fail as without a network, or with a status, until `restore`. */
const cutScripts = async (page: Page, pattern: RegExp, status?: number): Promise<Cut> => {
  let isCut = true;
  const cut: Cut = {
    count: 0,
    restore: () => {
      isCut = false;
    },
  };
  await page.route(pattern, async (route) => {
    if (!isCut) return route.continue();
    cut.count++;
    return status === undefined ? route.abort("internetdisconnected") : route.fulfill({ status, body: "" });
  });
  return cut;
};

const notice = (page: Page) => page.locator("#unloaded");

/** Makes the document believe that it was opened a minute ago. */
const makeOld = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const now = performance.now.bind(performance);
    performance.now = () => now() + 60_000;
  });

const expectTakeover = async (client: TestClient, page: Page, text: string): Promise<void> => {
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  await expect(client.composer(page)).toHaveValue(text);
  await expect(client.composer(page)).toBeFocused();
  await expect(notice(page)).toBeHidden();
};

const stages = [
  { title: "second stage", pattern: /\/assets\/app-root-[^/]+\.js$/ },
  { title: "screen", pattern: /\/assets\/private-chat-screen-[^/]+\.js$/ },
  { title: "script", pattern: /\/assets\/index-[^/]+\.js$/, status: 500 },
];

test("the app starts by itself after its second stage, its screen or its script could not be loaded", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9772, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const errors: Error[] = [];
  page.on("pageerror", (error) => errors.push(error));
  const texts = ["bonjour"];
  for (const { title, pattern, status } of stages) {
    const cut = await cutScripts(page, pattern, status);
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    const field = firstView(page).getByRole("textbox");
    await field.click();
    await page.keyboard.type(`sans ${title}`);
    await page.keyboard.press("Enter");
    await page.keyboard.type("la suite");
    await expect(notice(page)).toBeVisible();
    await expect(notice(page)).toHaveCSS("bottom", "0px");
    const [viewBox, noticeBox] = [await firstView(page).boundingBox(), await notice(page).boundingBox()];
    expect((viewBox?.y ?? 0) + (viewBox?.height ?? 0)).toBeCloseTo(noticeBox?.y ?? 0, 0);
    const failures = cut.count;
    await expect.poll(() => cut.count).toBeGreaterThan(failures); // it is requested again
    await expect(field).toHaveValue("la suite");
    await expect(field).toBeFocused();
    cut.restore();
    await expectTakeover(client, page, "la suite");
    texts.push(`sans ${title}`);
    await expect.poll(() => readServerTexts(site, ben, conversation)).toEqual(texts);
    await expect(client.message(`sans ${title}`, page)).toHaveCount(1);
    expect(errors).toEqual([]);
    await client.composer(page).fill(""); // no draft is left for the next start
  }
});

test("a page whose second stage is missing is loaded anew once nobody is in its field, and keeps the text; if it still cannot load its script it is not loaded anew again", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9782, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  let documents = 0;
  page.on("request", (request) => {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return;
    documents++;
    if (documents > 1) cut.restore();
  });
  const cut = await cutScripts(page, /\/assets\/app-root-[^/]+\.js$/, 404);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  const field = firstView(page).getByRole("textbox");
  await field.click();
  await page.keyboard.type("pas perdu");
  await makeOld(page);
  const failures = cut.count;
  await expect.poll(() => cut.count).toBeGreaterThan(failures + 1);
  expect(documents).toBe(1);
  await expect(field).toHaveValue("pas perdu");
  await field.blur();
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  expect(documents).toBe(2);
  await expect(client.composer(page)).toHaveValue("pas perdu");
  await expect(notice(page)).toBeHidden();

  // A page that was loaded anew.
  const nextCut = await cutScripts(page, /\/assets\/index-[^/]+\.js$/, 404);
  await page.reload({ waitUntil: "commit" });
  await expect(notice(page)).toBeVisible();
  expect(documents).toBe(3);
  await makeOld(page);
  const nextFailures = nextCut.count;
  await expect.poll(() => nextCut.count).toBeGreaterThan(nextFailures + 2);
  expect(documents).toBe(3);
  nextCut.restore();
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  expect(documents).toBe(3);
});
