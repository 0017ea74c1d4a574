import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson, phoneOf } from "#tests/support/people/people.ts";

test("several numbers are looked up, pasted or from the device's contacts; who is found can be asked, the others invited", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cal] = [await makePerson(site, 9_241), await makePerson(site, 9_242), await makePerson(site, 9_243)];
  const absent = phoneOf(9_244);
  const client = await TestClient.open(browser, server);
  const { page, texts } = client;
  const { numbers } = texts.invite;
  await client.signIn(ana);
  await client.goToTab("senga");
  await page.getByRole("searchbox", { name: texts.senga.searchLabel }).fill(absent);
  await page.getByRole("link", { name: texts.senga.invite }).click();
  const field = page.getByLabel(numbers.field);
  const search = page.getByRole("button", { name: numbers.search });
  const found = page.getByRole("region", { name: numbers.found });
  const notFound = page.getByRole("region", { name: numbers.notFound });
  // Headless Chromium has no picker.
  await expect(page.getByRole("button", { name: numbers.pick })).toHaveCount(0);

  await test.step("a line that is no number is named, the others are looked up, and nothing typed is lost", async () => {
    const typed = `Ben ${ben.phone}\nMaman\n${absent}`;
    await search.click();
    await expect(field).toHaveAccessibleDescription(numbers.nothing);
    await field.fill(typed);
    await field.press("Tab");
    await page.keyboard.press("Enter");
    await expect(field).toHaveAccessibleDescription(fill(numbers.badLine, { line: 2, text: "Maman" }));
    await expect(found.getByText(ben.username)).toBeVisible();
    await expect(notFound.getByRole("listitem")).toHaveText([new RegExp(absent.slice(-3))]);
    await expect(field).toHaveValue(typed);
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
    await page.reload();
    await expect(field).toHaveValue(typed);
  });

  await test.step("without a network the numbers stay, and are looked up later", async () => {
    await client.context.setOffline(true);
    await search.click();
    await expect(field).toHaveAccessibleDescription(new RegExp(texts.errors.offline));
    await client.context.setOffline(false);
    await search.click();
    await found.getByRole("button", { name: fill(texts.senga.addName, { name: ben.username }) }).click();
    await expect(found.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();
  });

  await test.step("more than fifty numbers are refused, and stay", async () => {
    const many = Array.from({ length: 51 }, (_, n) => `+2439900${String(n).padStart(5, "0")}`).join("\n");
    await field.fill(many);
    await search.click();
    await expect(field).toHaveAccessibleDescription(fill(numbers.tooMany, { max: 50, count: 51 }));
    await expect(field).toHaveValue(many);
  });

  await test.step("the picker of the device is opened each time, and its names stay on the device", async () => {
    // The Contact Picker API exists in browsers on phones only; the test answers in place of the person.
    await page.addInitScript(
      (picked) => {
        Object.defineProperty(navigator, "contacts", { value: { select: async () => picked } });
      },
      [
        { name: ["Cousin Cal"], tel: [cal.phone] },
        { name: ["Tante Absente"], tel: [absent] },
      ],
    );
    await field.fill("");
    await client.goTo("/app/senga/invite");
    const sent = page.waitForRequest("**/api/people/lookup");
    await page.getByRole("button", { name: numbers.pick }).click();
    expect((await sent).postDataJSON()).toEqual({ phones: [cal.phone, absent] });
    await expect(found.getByText(cal.username)).toBeVisible();
    await expect(field).toHaveValue(`${cal.phone}\n${absent}`);
    await page.getByRole("button", { name: texts.invite.create }).press("Enter");
    await expect(page.getByRole("link", { name: texts.invite.sms })).toBeFocused();
    const url = await page.getByText(`${server.origin}/i/`).textContent();
    const invite = notFound.getByRole("link", { name: fill(numbers.inviteName, { name: "Tante Absente" }) });
    const message = encodeURIComponent(fill(texts.invite.message, { url: url ?? "" }));
    await expect(invite).toHaveAttribute("href", `sms:${absent}?&body=${message}`);
    await page.getByRole("button", { name: texts.invite.revoke }).press("Enter");
    await page.getByRole("alertdialog").getByRole("button", { name: texts.invite.revoke }).press("Enter");
    await expect(page.getByRole("button", { name: texts.invite.create })).toBeFocused();
    // The first press creates the link, and leaves the focus on it where nothing opens SMS.
    await notFound.getByRole("button", { name: fill(numbers.inviteName, { name: "Tante Absente" }) }).press("Enter");
    await expect(invite).toBeFocused();
    expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  });
});
