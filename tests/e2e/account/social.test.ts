import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/closing-test.ts";
import { fill, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { makePerson, phoneOf, testPassword } from "#tests/support/people/people.ts";
import {
  addCodeApp,
  exchangeCode,
  linkIdentity,
  runSignInFlow,
  type Social,
  startSocialServer,
} from "#tests/support/people/social-sign-in.ts";

let social: Social;
test.beforeAll(async () => {
  social = await startSocialServer();
});
test.afterAll(() => social.stop());

/** Its pages name an external font. */
const openPhone = async (
  ...[browser, language]: [Parameters<typeof TestClient.open>[0], Parameters<typeof TestClient.open>[2]?]
) => {
  const phone = await TestClient.open(browser, social.server, language);
  await phone.context.route(/fonts\.googleapis/, (route) => route.abort());
  return phone;
};

const continueWith = async ({ page, texts }: TestClient, name: string): Promise<void> => {
  await page.getByRole("button", { name: fill(texts.auth.continueWith, { name }) }).click();
};

/** On the provider's own pages. */
const logInThere = async (page: Page, login: string): Promise<void> => {
  await page.locator("[name=login]").fill(login);
  await page.locator("[name=password]").fill("x");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
};

test("a provider chosen before the script arrived is opened when it does; a person who cancels there returns to the form with a message; a linked one signs in, and nothing of the flow remains in the address, but a code of another person's flow signs nobody in", async ({
  browser,
}) => {
  const [ana, ben] = [await makePerson(social.site, 9_410), await makePerson(social.site, 9_412)];
  expect((await linkIdentity(social.site, ana.token, "kivu", "ana-browser")).status).toBe(200);
  await linkIdentity(social.site, ben.token, "kivu", "foreign");
  const { code } = await runSignInFlow(social.site, "kivu", "foreign");
  const phone = await openPhone(browser, "pt");
  const { page, texts } = phone;
  let letThrough = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  await page.route("**/assets/*.js", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${social.site.origin}/login`, { waitUntil: "commit" });
  const button = page.getByRole("button", { name: fill(texts.auth.continueWith, { name: "Kivu" }) });
  await button.click();
  await expect(button).toHaveAttribute("aria-busy", "true");
  letThrough();
  await expect(page.locator("[name=login]")).toBeVisible();
  await page.getByRole("link", { name: "[ Cancel ]" }).click();
  await page.waitForURL("**/login");
  await expect(page.getByText(texts.auth.providerCancelled)).toBeVisible();
  await expect(page.getByLabel(texts.auth.phoneNumber)).toBeEditable();

  await phone.goTo(`/login?code=${code}`);
  await expect(page.getByText(texts.errors.bad_code_verifier).first()).toBeVisible();
  await expect(page).toHaveURL(`${social.site.origin}/login`);
  expect(await page.evaluate(() => localStorage.getItem("session"))).toBeNull();
  expect((await phone.context.cookies()).filter(({ name }) => name.startsWith("__Host-"))).toEqual([]);

  await continueWith(phone, "Kivu");
  await logInThere(page, "ana-browser");
  await page.waitForURL("**/app", { waitUntil: "commit" });
  await expect(page.getByText(texts.auth.loginSuccessful)).toBeVisible();
  await page.goBack({ waitUntil: "commit" });
  expect(page.url()).not.toContain("code=");
});

test("an unknown person registers with a number, and is linked from then on", async ({ browser }) => {
  const phone = await openPhone(browser);
  const { page, texts } = phone;
  await phone.goTo("/register");
  await continueWith(phone, "Congo Télécom");
  await logInThere(page, "nadine");
  await page.waitForURL("**/register");
  await expect(page.getByText(fill(texts.auth.newcomerText, { name: "Congo Télécom" }))).toBeVisible();
  await expect(page.getByLabel(texts.auth.displayName)).toHaveValue("nadine Kabila");
  await page.locator("#avatar").setInputFiles({ name: "moi.png", mimeType: "image/png", buffer: onePixelPng });
  await page.getByLabel(texts.auth.phoneNumber).fill(phoneOf(9_411).replace("+", ""));
  await page.getByLabel(texts.auth.password, { exact: true }).fill(testPassword);
  await page.getByLabel(texts.auth.confirmPassword, { exact: true }).fill(testPassword);
  await page.getByLabel(texts.auth.robot).check();
  await page.getByRole("button", { name: texts.auth.createAccount }).click();
  await page.waitForURL("**/app", { waitUntil: "commit" });
  const flow = await runSignInFlow(social.site, "congo", "nadine");
  expect((await exchangeCode(social.site, flow)).status).toBe(200);
});

test("a person links an account on the security page, still needs the second factor after it, and unlinks it there", async ({
  browser,
}) => {
  const ana = await makePerson(social.site, 9_413);
  const phone = await openPhone(browser);
  const { page, texts } = phone;
  const { linked } = texts.security;
  const kivu = { provider: "Kivu" };
  await phone.signIn(ana, "/app/security");
  await page.getByRole("button", { name: fill(linked.link, kivu), exact: true }).click();
  await logInThere(page, "linker-browser");
  await page.waitForURL("**/app/security", { waitUntil: "commit" });
  await expect(page.getByText(linked.done)).toBeVisible();
  await expect(page.getByText("linker-browser@example.org")).toBeVisible();
  await expect(page.getByRole("button", { name: fill(linked.link, kivu), exact: true })).toHaveCount(0);

  const app = await addCodeApp(social.site, ana.token);
  const other = await openPhone(browser);
  await other.goTo("/login");
  await continueWith(other, "Kivu");
  await logInThere(other.page, "linker-browser");
  const code = other.page.getByLabel(texts.auth.secondStep.code);
  await expect(code).toBeFocused();
  expect(await other.page.evaluate(() => localStorage.getItem("session"))).toBeNull();
  await code.pressSequentially(app.next());
  await other.page.waitForURL("**/app");

  await other.openRoute("/app/security");
  await other.page.getByRole("button", { name: fill(linked.unlinkName, kivu) }).click();
  await other.page.getByRole("button", { name: linked.unlink, exact: true }).click();
  await expect(other.page.getByText(fill(linked.unlinked, kivu))).toBeVisible();
  await expect(other.page.getByRole("button", { name: fill(linked.link, kivu), exact: true })).toBeVisible();
  const flow = await runSignInFlow(social.site, "kivu", "linker-browser");
  expect(await exchangeCode(social.site, flow)).toMatchObject({ status: 422, body: { error_code: "phone_needed" } });
});
