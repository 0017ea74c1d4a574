import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { setVisibility } from "#tests/support/browser/visibility.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

const reloadMs = 20_000; // checked every three seconds

/**
 * Replaces the release on the server: files that the page has not loaded are missing, and the app's page starts with
 * another script. `isReloadStale`: a reload is answered from a copy of the old release.
 */
const replaceRelease = async (page: Page, isReloadStale = false) => {
  const release = { documents: 0 };
  const isOldPage = () => isReloadStale || release.documents === 0;
  await page.route(/\/assets\//, (route) =>
    isOldPage() ? route.fulfill({ status: 404, body: "" }) : route.fallback(),
  );
  await page.route(/\/app(\/|$)/, async (route) => {
    if (route.request().isNavigationRequest()) {
      release.documents++;
      return route.continue();
    }
    const response = await route.fetch();
    return route.fulfill({ response, body: (await response.text()).replaceAll("/assets/index-", "/assets/next-") });
  });
  return release;
};

test("a page whose release was replaced is reloaded once: for a screen that only the current release has, or once it is put aside, and keeps the text in its field", async ({
  browser,
  server,
}) => {
  const { people } = await makePair(toSite(server), 9_370);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signInToChat(people[0], people[1].id);
  const opened = await replaceRelease(page);
  await phone.openRoute("/app/help");
  const heading = page.getByRole("heading", { level: 1, name: texts.help.title, exact: true });
  await expect(heading).toBeVisible({ timeout: reloadMs });
  expect(opened.documents).toBe(1);

  // The next release is replaced too.
  await page.evaluate(() => sessionStorage.removeItem("reloaded-release"));
  await phone.openRoute(`/app/chat/${people[1].id}`);
  await phone.composer().fill("pas perdu");
  const putAside = await replaceRelease(page);
  await page.getByRole("button", { name: texts.reactions.choose, exact: true }).click();
  await expect(page.getByText(texts.shell.notice.updated)).toBeVisible();
  await phone.composer().fill("pas perdu du tout");
  await page.waitForTimeout(5_000);
  expect(putAside.documents).toBe(0); // somebody is writing
  await setVisibility(phone, "hidden");
  await expect.poll(() => putAside.documents, { timeout: reloadMs }).toBe(1);
  await expect(phone.composer()).toHaveValue("pas perdu du tout");
  await page.getByRole("button", { name: texts.reactions.choose, exact: true }).click();
  const dialog = page.getByRole("dialog", { name: texts.reactions.choose });
  await expect(dialog).toBeVisible();
  expect(putAside.documents).toBe(1);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);

  // It was served from an old copy.
  const stale = await replaceRelease(page, true);
  await phone.openRoute("/app/appearance");
  await expect(page.getByText(texts.shell.missing.title)).toBeVisible();
  await page.waitForTimeout(8_000);
  expect(stale.documents).toBe(0);
});

test("a text is sent although the code of the connection is gone from the server", async ({ browser, server }) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_376);
  const phone = await TestClient.open(browser, server);
  const { page } = phone;
  const missing = /\/assets\/(connection|server-code)-/;
  await page.route(missing, (route) => route.fulfill({ status: 404, body: "" }));
  await phone.signInToChat(people[0], people[1].id);
  const release = await replaceRelease(page);
  await page.unroute(missing);
  await phone.write("envoyé plus tard");
  await expect(phone.ticks("envoyé plus tard", "sending")).toBeVisible();
  await setVisibility(phone, "hidden");
  await expect.poll(() => release.documents, { timeout: reloadMs }).toBe(1);
  const readTexts = async () => (await readServerLog(site, people[0], conversation)).map(({ text }) => text);
  await expect.poll(readTexts).toEqual(["envoyé plus tard"]);
});
