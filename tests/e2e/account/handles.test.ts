import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";
import { invitationTexts } from "#worker/service/invitation-texts.ts";

test("a person chooses a handle and shares a link; others find them by both, also after signing in, without the number", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_841), await makePerson(site, 9_842)];
  const handle = `ana.mbala${Date.now() % 1_000_000}`;
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await page.setViewportSize({ width: 360, height: 740 });
  await anas.signIn(ana, "/app/profile");
  await page.getByRole("link", { name: texts.handle.title }).click();
  const field = page.getByLabel(texts.handle.field, { exact: true });
  const save = page.getByRole("button", { name: texts.handle.save });
  for (const [typed, problem] of [
    ["ana..k", texts.errors.invalid_handle],
    ["lisolo.ana", texts.errors.reserved_handle],
    ["rawbank.ana", texts.errors.reserved_handle],
  ] as const) {
    await field.fill(typed);
    await save.click();
    await expect(field).toHaveAccessibleDescription(new RegExp(problem));
  }
  await field.fill(`@${handle.toUpperCase()}`);
  await save.click();
  await expect(page.getByRole("status").getByText(fill(texts.handle.saved, { handle }))).toBeVisible();
  await expect(field).toHaveValue(handle);
  await page.getByRole("button", { name: texts.handle.link.create }).click();
  await expect(page.getByRole("img", { name: texts.handle.link.qr })).toBeVisible();
  const url = (await page.getByText(`${server.origin}/u/`).textContent()) ?? "";
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);

  const bens = await TestClient.open(browser, server, "en");
  await bens.page.goto(url);
  await bens.page.waitForURL("**/u/*?visitor");
  await expect(bens.page.getByRole("link", { name: invitationTexts.en.register })).toBeVisible();
  expect(await findAxeViolationsInBothThemes(bens.page)).toEqual([]);
  await bens.page.getByRole("link", { name: invitationTexts.en.login }).click();
  await bens.logIn(ben.phone);
  await bens.page.waitForURL(`**/app${new URL(url).pathname}`);
  const owner = bens.page.getByRole("list", { name: bens.texts.senga.results });
  await expect(owner.getByText(ana.username)).toBeVisible();
  await owner.getByRole("button", { name: bens.texts.senga.add }).click();
  await expect(owner.getByRole("button", { name: bens.texts.senga.requestSent })).toBeDisabled();

  await bens.goToTab("senga");
  await bens.page.getByRole("button", { name: bens.texts.senga.byHandle }).click();
  const search = bens.page.getByRole("searchbox", { name: bens.texts.senga.searchLabel });
  await expect(search).toBeFocused();
  await expect(search).toHaveValue("@");
  await bens.page.keyboard.type(`${handle.slice(0, -1)}x`);
  await search.press("Enter");
  await expect(bens.page.getByText(bens.texts.senga.noUsers.handleBody)).toBeVisible();
  await search.fill(`@${handle}`);
  await search.press("Enter");
  const results = bens.page.getByRole("list", { name: bens.texts.senga.results });
  await expect(results.getByText(`@${handle}`)).toBeVisible();
  await expect(results.getByRole("listitem")).not.toContainText("+");
  await bens.openRoute(`/app/user/${ana.id}`);
  await expect(bens.page.getByText(`@${handle}`)).toBeVisible();

  await page.goto(url);
  await expect(page.getByText(texts.senga.link.own)).toBeVisible();
  await page.waitForURL("**/app/handle");
  await page.getByRole("button", { name: texts.handle.link.renew }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.handle.link.renew }).click();
  await expect(page.getByRole("status").getByText(texts.handle.link.renewed)).toBeVisible();
  await bens.goTo(new URL(url).pathname);
  await expect(bens.page.getByText(bens.texts.errors.link_not_found)).toBeVisible();
  await page.reload();
  await expect(field).toHaveValue(handle);
});
