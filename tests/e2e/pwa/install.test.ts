import type { Page } from "@playwright/test";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";

declare global {
  interface Window {
    /** Number of times the browser's install dialog was shown. */
    installDialogs: number;
  }
}

const dayMs = 24 * 3_600_000;

/** Offers the installation as Chromium does for an installable page; headless Chromium never does. */
const offerInstallation = (page: Page) =>
  page.addInitScript(() => {
    window.installDialogs = 0;
    addEventListener("load", () => {
      const event = Object.assign(new Event("beforeinstallprompt", { cancelable: true }), {
        prompt: async () => {
          window.installDialogs++;
          return { outcome: "dismissed" };
        },
      });
      dispatchEvent(event);
    });
  });

/** Sets the history of this device. */
const setFirstUse = (page: Page, daysAgo: number) =>
  page.evaluate(
    (firstUsedAt) => localStorage.setItem("install", JSON.stringify({ firstUsedAt })),
    Date.now() - daysAgo * dayMs,
  );

test("the app is offered once, from the third day of use on, and an iPhone shows the steps to the home screen", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 9_830, "Ana");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await offerInstallation(page);
  await phone.signIn(ana);
  const question = page.getByRole("heading", { name: texts.install.ask });
  await expect.poll(() => page.evaluate(() => localStorage.getItem("install"))).toContain("firstUsedAt");
  await expect(question).toHaveCount(0);
  await setFirstUse(page, 2.1);
  await page.reload();
  await expect(question).toBeVisible();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  // It does not cover other pages, such as the switches of the settings.
  await phone.openRoute("/app/notifications");
  await expect(page.getByRole("switch").first()).toBeVisible();
  await expect(question).toHaveCount(0);
  await phone.openRoute("/app");
  await page.getByRole("button", { name: texts.push.later }).click();
  await expect(question).toHaveCount(0);
  // Not again (tests/unit/ui/install-policy.test.ts), but the settings still offer it.
  expect(await page.evaluate(() => localStorage.getItem("install"))).toContain("answeredAt");
  await phone.openRoute("/app/profile");
  await page.getByRole("link", { name: texts.install.title }).click();
  await page.getByRole("button", { name: texts.install.install, exact: true }).click();
  await expect.poll(() => page.evaluate(() => window.installDialogs)).toBe(1);
  await expect(page.getByText(texts.install.menu)).toBeVisible();
  await expect(question).toHaveCount(0);

  // An iPhone shows the steps to the home screen.
  const iphone = await phone.context.newPage();
  await iphone.addInitScript(() => Object.defineProperty(navigator, "standalone", { value: false }));
  await setFirstUse(page, 3);
  await iphone.goto("/app");
  await iphone.getByRole("button", { name: texts.install.how }).click();
  await expect(iphone).toHaveURL("/app/install");
  await expect(iphone.getByRole("listitem").filter({ hasText: texts.install.iosAdd })).toBeVisible();
  expect(await findAxeViolationsInBothThemes(iphone)).toEqual([]);
  await phone.close();
});
