import { avatarMaxBytes } from "#contract/limits/files.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";

const unavailable = { status: 503, json: { code: 503, error_code: "unavailable", msg: "" } };

test("failures in the own profile are reported in the chosen language, and no input is lost", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 6_622, "Ana Mbala");
  const phone = await TestClient.open(browser, server, "en");
  const { page, texts, context } = phone;
  const alert = page.getByRole("alert");
  await phone.signIn(ana, "/app/profile");

  const input = page.getByLabel(texts.auth.changePicture);
  const file = { name: "x.png", mimeType: "image/png" };
  await input.setInputFiles({ ...file, buffer: Buffer.alloc(avatarMaxBytes + 1) });
  await expect(alert).toContainText("File too large");
  await expect(alert).toContainText("Please select an image smaller than 5MB.");
  await input.setInputFiles({ ...file, buffer: Buffer.from("words") });
  await expect(alert).toContainText("Error selecting file");
  await expect(alert).toContainText(texts.common.pictureUnreadable);

  await page.getByRole("button", { name: texts.profile.editName }).click();
  const name = page.getByRole("textbox", { name: texts.auth.displayName });
  await name.fill(" ");
  await page.keyboard.press("Enter");
  await expect(alert.getByText("Display name cannot be empty.")).toBeVisible();
  await name.fill("Ana");
  await context.route("**/api/profile", (route) => route.fulfill(unavailable));
  await page.keyboard.press("Enter");
  await expect(alert.getByText("Error updating profile")).toBeVisible();
  await expect(alert.getByText(texts.errors.unavailable)).toBeVisible();
  await expect(name).toHaveValue("Ana");
  await context.unroute("**/api/profile");
  await page.getByRole("button", { name: texts.profile.save }).click();
  await expect(page.getByText("Profile updated successfully!")).toBeVisible();

  await context.route("**/api/account", (route) => route.fulfill(unavailable));
  await page.getByRole("button", { name: texts.profile.deleteAccount, exact: true }).click();
  const question = page.getByRole("alertdialog", { name: texts.profile.deleteTitle });
  await expect(question).toContainText(texts.profile.deleteBody);
  await expect(question).toContainText(texts.profile.deleteKept);
  await question.getByRole("button", { name: texts.profile.deleteConfirm }).click();
  await expect(alert.getByText(texts.profile.deleteFailedTitle)).toBeVisible();
  await expect(alert.getByText(texts.profile.deleteFailed)).toBeVisible();
  await expect(question).toHaveCount(0);

  // A language whose texts cannot be loaded is not chosen.
  await context.route("**/assets/pt-*", (route) => route.abort());
  await page.getByText("Português", { exact: true }).click();
  await expect(alert).toContainText(texts.errors.offline);
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
  await expect(page.locator("html")).toHaveAttribute("lang", "fr");
  expect(await page.evaluate(() => document.cookie)).toContain("fr");
  await phone.close();
});
