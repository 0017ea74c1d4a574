import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import type { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

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
  { title: "second stage", pattern: /\/assets\/app-root-[^/]+\.js$/, n: 9772 },
  { title: "screen", pattern: /\/assets\/private-chat-screen-[^/]+\.js$/, n: 9776 },
  { title: "script", pattern: /\/assets\/index-[^/]+\.js$/, n: 9778, status: 500 },
];

for (const { title, pattern, n, status } of stages) {
  test(`the app starts by itself after its ${title} could not be loaded${status ? `: ${status}` : ""}`, async ({
    browser,
    server,
  }) => {
    const site = toSite(server);
    const { ana, ben, conversation } = await makeChat(site, n, ["bonjour"]);
    const client = await openPhone(browser, server);
    const page = await openCold(client, ben);
    const errors: Error[] = [];
    page.on("pageerror", (error) => errors.push(error));
    const cut = await cutScripts(page, pattern, status);
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    const field = firstView(page).getByRole("textbox");
    await field.click();
    await page.keyboard.type("sans réseau");
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
    const readTexts = async () => (await readServerLog(site, ben, conversation)).map(({ text }) => text);
    await expect.poll(readTexts).toEqual(["bonjour", "sans réseau"]);
    await expect(client.message("sans réseau", page)).toHaveCount(1);
    expect(errors).toEqual([]);
  });
}

test("a page whose second stage is missing is loaded anew once nobody is in its field, and keeps the text", async ({
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
});

test("a page that was loaded anew and still cannot load its script is not loaded anew again", async ({
  browser,
  server,
}) => {
  const { ana, ben } = await makeChat(toSite(server), 9796, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const cut = await cutScripts(page, /\/assets\/index-[^/]+\.js$/, 404);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await page.reload({ waitUntil: "commit" });
  await expect(notice(page)).toBeVisible();
  let documents = 0;
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) documents++;
  });
  await makeOld(page);
  const failures = cut.count;
  await expect.poll(() => cut.count).toBeGreaterThan(failures + 2);
  expect(documents).toBe(0);
  cut.restore();
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  expect(documents).toBe(0);
});
