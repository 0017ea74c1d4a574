import type { Browser, Page } from "@playwright/test";
import type { Ceremony } from "#contract/auth/factors.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { PasskeyDevice, type PasskeyTransport } from "#tests/support/browser/passkey-devices.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { callSite, makePerson, type Person, type Site } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";

const siteOf = ({ origin }: Server): Site => ({ origin, fetch });
const signInPath = "/api/auth/passkeys/sign-in";
let people = 6_500;

type Owner = { phone: TestClient; person: Person; device: PasskeyDevice };

/** Person who has just added a passkey on the security page. */
const withPasskey = async (browser: Browser, server: Server, held: PasskeyTransport = "internal"): Promise<Owner> => {
  const person = await makePerson(siteOf(server), ++people);
  const phone = await TestClient.open(browser, server);
  const device = await PasskeyDevice.plugInto(phone.page, held);
  await phone.signIn(person, "/app/security");
  await phone.page.getByRole("button", { name: phone.texts.security.keys.add }).click();
  await expect(list(phone).getByRole("listitem")).toHaveCount(1);
  expect(await device.credentials()).toHaveLength(1);
  return { phone, person, device };
};
const list = ({ page, texts }: TestClient) => page.getByRole("list", { name: texts.security.keys.title });

/** Browser without a session, on the log-in page. */
const leave = async ({ page, context }: TestClient): Promise<void> => {
  await page.goto("/favicon.svg");
  await context.clearCookies({ name: /lisolo/ });
  await page.evaluate(() => localStorage.clear());
};
/** The field offers nothing: the button is tested. */
const withoutOffer = (page: Page) =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });
const button = ({ page, texts }: TestClient) => page.getByRole("button", { name: texts.auth.withPasskey });
const pressButton = async (phone: TestClient): Promise<void> => {
  await leave(phone);
  await phone.page.goto("/login");
  await button(phone).click();
};
const isIn = async ({ page, texts }: TestClient, { username }: Person): Promise<void> => {
  await page.waitForURL("**/app");
  await expect(page.getByRole("navigation", { name: texts.shell.navigation })).toBeVisible();
  await page.goto("/app/profile");
  await expect(page.getByText(username).first()).toBeVisible();
};
const isRefused = async ({ page, texts }: TestClient): Promise<void> => {
  await expect(page.locator("form").getByText(texts.errors.passkey_refused)).toBeVisible();
  expect(new URL(page.url()).pathname).toBe("/login");
};

/** Answer to the server's challenge by a browser that does not insist on a verified user, sent without the app's pages. */
const answer = async (page: Page, server: Server) => {
  const site = siteOf(server);
  const { ceremony, options } = (await callSite(site, "POST", `${signInPath}/options`)).body as Ceremony;
  const response = await page.evaluate(
    async (json) => {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
        json as unknown as PublicKeyCredentialRequestOptionsJSON,
      );
      const credential = await navigator.credentials.get({ publicKey });
      return (credential as PublicKeyCredential).toJSON() as unknown;
    },
    { ...options, userVerification: "discouraged" },
  );
  return callSite(site, "POST", signInPath, { body: { ceremony, response } });
};
const refused = { status: 400, body: { error_code: "passkey_refused" } };

test("a passkey is offered in the number's field, and selecting it signs in", async ({ browser, server }) => {
  const { phone, person } = await withPasskey(browser, server);
  await leave(phone);
  // Chromium's software authenticator accepts an offer immediately.
  await phone.page.goto("/login");
  await isIn(phone, person);
  await phone.context.close();
});

test("a removed passkey signs nobody in, though the phone still has it", async ({ browser, server }) => {
  const { phone, device } = await withPasskey(browser, server);
  const { page, texts } = phone;
  await list(phone).getByRole("button").click();
  await page.getByRole("menuitem", { name: texts.security.remove }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.security.remove }).click();
  await expect(list(phone)).toHaveCount(0);
  expect(await device.credentials()).toHaveLength(1);
  await withoutOffer(page);
  await pressButton(phone);
  await isRefused(phone);
  await phone.context.close();
});

test("a passkey is added on the security page and signs in by the button", async ({ browser, server }) => {
  const { phone, person } = await withPasskey(browser, server);
  await withoutOffer(phone.page);
  await pressButton(phone);
  await isIn(phone, person);
  await phone.context.close();
});

test("a passkey on a plugged-in key is the second step after the password", async ({ browser, server }) => {
  const { phone, person } = await withPasskey(browser, server, "usb");
  const { page, texts } = phone;
  await page.getByRole("switch", { name: texts.security.step.keys }).click();
  await expect(page.getByText(texts.security.step.on, { exact: true })).toBeVisible();
  await withoutOffer(page);
  await leave(phone);
  await page.goto("/login");
  await page.getByLabel(texts.auth.phoneNumber).fill(person.phone.slice(1));
  await page.getByLabel(texts.auth.password, { exact: true }).fill(person.password);
  await page.getByRole("button", { name: texts.auth.logIn, exact: true }).click();
  await expect(page.getByRole("heading", { name: texts.auth.secondStep.title })).toBeVisible();
  await expect(page).toHaveTitle(`${texts.auth.secondStep.title} · Lisolo`);
  await page.getByRole("button", { name: texts.auth.secondStep.usePasskey }).click();
  await isIn(phone, person);
  await phone.context.close();
});

test("a passkey signs nobody in from a device that does not verify its user", async ({ browser, server }) => {
  const { phone, device } = await withPasskey(browser, server);
  const { page, texts } = phone;
  await device.setVerified(false);
  expect(await answer(page, server)).toMatchObject(refused);

  await withoutOffer(page);
  let handedIn = 0;
  page.on("request", (request) => {
    if (request.url().endsWith(signInPath)) handedIn++;
  });
  const isAsked = page.waitForResponse((response) => response.url().endsWith(`${signInPath}/options`));
  await pressButton(phone);
  await isAsked; // it is busy until it is answered or refused
  await expect(button(phone)).not.toHaveAttribute("aria-busy", "true");
  expect(handedIn).toBe(0);
  expect(new URL(page.url()).pathname).toBe("/login");
  // Cancelling is not an error.
  await expect(page.getByText(texts.auth.signInFailed)).toHaveCount(0);

  await device.setVerified(true);
  await button(phone).click();
  await page.waitForURL("**/app");
  await phone.context.close();
});
