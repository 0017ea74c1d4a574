import * as v from "valibot";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

const Messages = v.array(v.object({ to: v.string(), text: v.string() }));

/** Code of the newest message to a number that the local server stored. */
const readCode = async (origin: string, phone: string): Promise<string> => {
  const answer = await fetch(`${origin}/dev/sms`, { headers: { accept: "application/json" } });
  const message = v.parse(Messages, await answer.json()).find(({ to }) => to === phone);
  return /\d{6}/.exec(message?.text ?? "")?.[0] ?? "";
};
const toWrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

test("a person verifies their number by a code, after a wrong one, by keyboard; a contact sees the state change, and verifies theirs by another method, after an error offline and a way out and back", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_861), await makePerson(site, 9_862)];
  await connectPeople(site, ana, ben);
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await page.setViewportSize({ width: 360, height: 740 });
  await anas.signIn(ana);
  const bens = await TestClient.open(browser, server, "en");
  await bens.signIn(ben, `/app/user/${ana.id}`);
  await expect(bens.page.getByText(bens.texts.people.unverified)).toBeVisible();

  await anas.openRoute("/app/profile");
  const link = page.getByRole("link", { name: new RegExp(texts.number.title) });
  await expect(link).toContainText(texts.number.unverified);
  await link.click();
  await expect(page.getByText(texts.people.unverified, { exact: true })).toBeVisible();
  await expect(page.getByRole("link", { name: texts.number.later })).toBeVisible();
  await page.getByRole("button", { name: texts.number.methods.sms_code }).press("Enter");
  const field = page.getByLabel(texts.number.code, { exact: true });
  await expect(field).toBeVisible();
  await expect(field).toHaveAttribute("autocomplete", "one-time-code");
  await expect(page.getByText(fill(texts.number.codeSent, { phone: formatPhone(ana.phone) }))).toBeVisible();
  await expect(page.getByRole("button", { name: /\d+ s/ })).toBeDisabled();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  const code = await readCode(server.origin, ana.phone);

  // The step outlives a reload, and another tab shows it too.
  await page.reload();
  await expect(page.getByText(fill(texts.number.codeSent, { phone: formatPhone(ana.phone) }))).toBeVisible();
  await expect(page.getByRole("button", { name: /\d+ s/ })).toBeDisabled();
  const other = await anas.context.newPage();
  await anas.goTo("/app/verify-number", other);
  await expect(other.getByLabel(texts.number.code, { exact: true })).toBeVisible();

  let checks = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/code")) checks++;
  });
  await field.fill(toWrong(code));
  await expect(field).toHaveAccessibleDescription(new RegExp(texts.errors.number_code_wrong));
  await page.getByRole("button", { name: texts.number.check }).click();
  await expect(field).toBeFocused();
  await expect(field).toHaveAccessibleDescription(new RegExp(texts.errors.number_code_wrong));
  expect(checks).toBe(1);
  await page.keyboard.type(code);
  await expect(page.getByRole("link", { name: texts.number.done })).toBeVisible();
  await expect(field).toHaveCount(0);
  await expect(page.getByRole("status").filter({ hasText: formatPhone(ana.phone) })).toBeFocused();
  await expect(other.getByRole("link", { name: texts.number.done })).toBeVisible();
  await other.close();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);

  // Every further change replaces the state that is shown.
  for (const days of [7, 6]) {
    await page.route("**/api/number", async (route) => {
      const response = await route.fetch();
      const contested_until = Date.now() + days * 24 * 3_600_000;
      await route.fulfill({ response, json: { ...(await response.json()), contested_until } });
    });
    const answered = page.waitForResponse("**/api/number");
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await answered;
    await expect(page.getByText(texts.number.contested.split("{")[0] ?? "")).toHaveCount(1);
    await expect(page.getByRole("status").filter({ hasText: formatPhone(ana.phone) })).toHaveCount(1);
    await page.unroute("**/api/number");
  }

  await page.reload();
  await expect(page.getByRole("link", { name: texts.number.done })).toBeVisible();
  await expect(page.getByRole("button", { name: texts.number.methods.sms_code })).toHaveCount(0);
  await bens.page.reload();
  await expect(bens.page.getByText(bens.texts.people.verified)).toBeVisible();

  const { page: contact, texts: his } = bens;
  await bens.openRoute("/app");
  await bens.openRoute("/app/verify-number");
  await contact.getByRole("button", { name: his.number.methods.whatsapp_code }).click();
  await expect(contact.getByLabel(his.number.code, { exact: true })).toBeFocused();
  await contact.getByRole("button", { name: his.number.otherMethod }).click();
  await expect(contact.getByText(his.number.choose)).toBeFocused();
  await contact.context().setOffline(true);
  await contact.getByRole("button", { name: his.number.methods.sms_code }).click();
  await expect(contact.getByRole("alert")).toHaveText(his.errors.offline);
  await contact.context().setOffline(false);
  await contact.getByRole("link", { name: his.number.later }).click();
  await contact.waitForURL("**/app");
  await contact.goBack();
  await contact.getByRole("button", { name: his.number.methods.sms_code }).click();
  await expect(contact.getByText(fill(his.number.codeSent, { phone: formatPhone(ben.phone) }))).toBeVisible();
  await contact.getByLabel(his.number.code, { exact: true }).fill(await readCode(server.origin, ben.phone));
  await expect(contact.getByRole("link", { name: his.number.done })).toBeVisible();
  await expect(contact.getByText(his.number.since.split("{")[0] ?? "")).toBeVisible();
});
