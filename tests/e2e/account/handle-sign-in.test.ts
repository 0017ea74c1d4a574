import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson } from "#tests/support/people/people.ts";

test("a person logs in with the handle, typed with letters and without its @, after a wrong password", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9_864);
  const handle = `ana.enters${Date.now() % 1_000_000}`;
  const chosen = await callSite(site, "PUT", "/api/handle", { token: ana.token, body: { handle } });
  expect(chosen.status).toBe(200);
  const client = await TestClient.open(browser, server);
  const { page, texts } = client;
  await page.setViewportSize({ width: 360, height: 740 });
  await client.goTo("/login");
  const toggle = page.getByRole("button", { name: texts.auth.useHandle });
  await toggle.focus();
  await toggle.press("Enter");
  const field = page.getByLabel(texts.auth.handle, { exact: true });
  await expect(field).toBeFocused();
  await expect(field).toHaveAttribute("inputmode", "text");
  await page.keyboard.type(handle);
  const password = page.getByLabel(texts.auth.password, { exact: true });
  await password.fill("Wrong2026");
  await password.press("Enter");
  await expect(password).toHaveAccessibleDescription(new RegExp(texts.errors.invalid_credentials));
  await expect(field).toHaveValue(handle);
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  // The same input: what was typed stays.
  await page.getByRole("button", { name: texts.auth.useHandle }).click();
  await expect(page.getByLabel(texts.auth.phoneNumber)).toHaveValue(handle);
  await password.fill(ana.password);
  await password.press("Enter");
  await page.waitForURL("**/app");
});
