import type { Page } from "@playwright/test";
import type { Ceremony } from "#contract/auth/factors.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { PasskeyDevice } from "#tests/support/browser/passkey-devices.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { callSite, makePerson, type Person, type Site } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";

const siteOf = ({ origin }: Server): Site => ({ origin, fetch });
const signInPath = "/api/auth/passkeys/sign-in";

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
const isIn = async (phone: TestClient, { username }: Person): Promise<void> => {
  const { page, texts } = phone;
  await page.waitForURL("**/app");
  await expect(page.getByRole("navigation", { name: texts.shell.navigation })).toBeVisible();
  await phone.openRoute("/app/profile");
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

test("a passkey added on the security page is offered in the number's field, where selecting it signs in, and signs in by the button, but not from a device that does not verify its user, and not once it is removed, though the phone still has it", async ({
  browser,
  server,
}) => {
  const person = await makePerson(siteOf(server), 6_501);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const device = await PasskeyDevice.plugInto(page);
  await phone.signIn(person, "/app/security");
  await page.getByRole("button", { name: texts.security.keys.add }).click();
  await expect(list(phone).getByRole("listitem")).toHaveCount(1);
  expect(await device.credentials()).toHaveLength(1);

  await leave(phone);
  // Chromium's software authenticator accepts an offer immediately.
  await page.goto("/login");
  await isIn(phone, person);

  await withoutOffer(page);
  await device.setVerified(false);
  expect(await answer(page, server)).toMatchObject(refused);
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
  await isIn(phone, person);

  await phone.openRoute("/app/security");
  await list(phone).getByRole("button").click();
  await page.getByRole("menuitem", { name: texts.security.remove }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.security.remove }).click();
  await expect(list(phone)).toHaveCount(0);
  expect(await device.credentials()).toHaveLength(1);
  await pressButton(phone);
  await isRefused(phone);
  await phone.close();
});
