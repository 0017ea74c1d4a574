import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";

test("a chosen language applies to all tabs at once, and of two choices the last one, unless its texts cannot be loaded", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 6_622);
  const phone = await TestClient.open(browser, server, "en");
  const { page, texts, context } = phone;
  await phone.signIn(ana, "/app/profile");
  const tab = await context.newPage();
  await phone.goTo("/app/profile", tab);
  // A language whose texts cannot be loaded is not chosen.
  await context.route("**/assets/pt-*", (route) => route.abort());
  await page.getByText("Português", { exact: true }).click();
  await expect(page.getByRole("alert")).toContainText(texts.errors.offline);
  await expect(page.getByRole("radio", { name: "English" })).toBeChecked();
  await context.unroute("**/assets/pt-*");

  // Of two choices the last one applies, whichever loads first.
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await context.route("**/assets/pt-*", (route) => held.then(() => route.continue()));
  const late = page.waitForRequest("**/assets/pt-*");
  await page.getByText("Português", { exact: true }).click();
  const address = (await late).url();
  await page.getByText("Français", { exact: true }).click();
  await expect(page.locator("html")).toHaveAttribute("lang", "fr");
  letOn();
  await page.evaluate((module) => import(module), address);
  await expect(page.getByRole("radio", { name: "Français" })).toBeChecked();
  for (const at of [page, tab]) {
    await expect(at.getByRole("heading", { level: 1, name: textsOf.fr.profile.title })).toBeVisible();
    await expect(at.locator("html")).toHaveAttribute("lang", "fr");
  }
  expect(await page.evaluate(() => document.cookie)).toContain("fr");
  await phone.close();
});
