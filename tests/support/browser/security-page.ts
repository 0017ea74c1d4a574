import type { Page, Route } from "@playwright/test";
import { expect } from "#tests/support/browser/browser-test.ts";
import { type Person, testPassword } from "#tests/support/people/people.ts";
import { CodeApp } from "./code-app.ts";
import type { TestClient } from "./test-client.ts";

/** The security page of the app, and signing in with a second factor. */

export const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true });
export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
export const dialog = (page: Page, name: string) => page.getByRole("dialog", { name, exact: true });
export const devices = ({ page, texts }: TestClient) =>
  page.getByRole("list", { name: texts.security.devices.title }).getByRole("listitem");

/** Types a number and a password into the form. The next screen is the app or the second step. */
export const typeLogIn = async (phone: TestClient, person: Person, password = testPassword): Promise<void> => {
  const { page, texts } = phone;
  await phone.goTo("/login");
  await page.getByLabel(texts.auth.phoneNumber).fill(person.phone);
  await page.getByLabel(texts.auth.password, { exact: true }).fill(password);
  await button(page, texts.auth.logIn).click();
};

/** Signs in and opens the page. `hasNews`: notices are shown above it, and move its buttons. */
export const openSecurity = async (phone: TestClient, person: Person, { hasNews = false } = {}): Promise<void> => {
  await phone.signIn(person, "/app/profile");
  if (hasNews) await expect(phone.page.getByRole("region", { name: phone.texts.security.notices.title })).toBeVisible();
  await phone.page.getByRole("link", { name: phone.texts.security.title }).click();
  await expect(phone.page.getByText(phone.texts.security.devices.current)).toBeVisible();
};

/** Adds a code app as the page describes, and accepts or declines the recovery codes offered then. */
export const addApp = async (phone: TestClient, withCodes: boolean): Promise<{ app: CodeApp; codes: string[] }> => {
  const { page, texts } = phone;
  const { apps, codes } = texts.security;
  await button(page, apps.add).click();
  await button(page, texts.auth.secondStep.go).click();
  const app = await CodeApp.readFrom(page);
  await page.getByLabel(texts.auth.secondStep.code).fill(app.next());
  await expect(page.getByRole("alertdialog", { name: codes.firstTitle })).toBeVisible();
  if (!withCodes) {
    await button(page, codes.later).click();
    return { app, codes: [] };
  }
  await button(page, codes.makeNow).click();
  const shown = dialog(page, codes.title).getByRole("listitem");
  await expect(shown).toHaveCount(10);
  const shownCodes = await shown.allInnerTexts();
  await page.getByLabel(codes.noted).check();
  await button(page, codes.done).click();
  await expect(dialog(page, codes.title)).toHaveCount(0);
  return { app, codes: shownCodes };
};

/** The server executes the request, and its answer is lost. */
export const loseAnswer = async (route: Route): Promise<void> => {
  await route.fetch();
  await route.abort("connectionreset");
};

export const signOut = async ({ page, texts }: TestClient): Promise<void> => {
  await page.getByRole("link", { name: texts.common.back }).click();
  await button(page, texts.profile.signOut).click();
  await page.waitForURL(/\/$/);
};
