import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson, phoneOf } from "#tests/support/people/people.ts";
import { invitationTexts } from "#worker/service/invitation-texts.ts";

test("a newcomer who follows an invitation registers and is connected with its sender; so is somebody with an account", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, dan] = [await makePerson(site, 9_221), await makePerson(site, 9_222)];
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await anas.signIn(ana);
  await anas.goToTab("senga");
  await page.getByRole("button", { name: texts.senga.invite }).click();
  await page.getByRole("button", { name: texts.invite.create }).click();
  const shown = page.getByText(`${server.origin}/i/`);
  const url = (await shown.textContent()) ?? "";

  await test.step("the sender chooses SMS, WhatsApp or copying", async () => {
    const message = encodeURIComponent(fill(texts.invite.message, { url }));
    const sms = page.getByRole("link", { name: texts.invite.sms });
    await expect(sms).toHaveAttribute("href", `sms:?&body=${message}`);
    const whatsapp = page.getByRole("link", { name: texts.invite.whatsapp });
    await expect(whatsapp).toHaveAttribute("href", `https://wa.me/?text=${message}`);
    await anas.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: texts.invite.copy }).click();
    await expect(page.getByText(texts.invite.copied)).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url);
  });

  // In each language: account/number-takeover.test.ts.
  await test.step("a newcomer registers", async () => {
    const newcomer = await TestClient.open(browser, server);
    const words = invitationTexts.fr;
    await newcomer.page.goto(url);
    await expect(newcomer.page.getByRole("heading")).toHaveText(words.invites.join(ana.username));
    expect(await findAxeViolationsInBothThemes(newcomer.page)).toEqual([]);
    await newcomer.page.getByRole("button", { name: words.register }).click();
    await newcomer.page.waitForURL("**/register");
    await newcomer.page.reload(); // the browser was closed in between
    await newcomer.register("Nouveau", phoneOf(9_223));
    await newcomer.page.waitForURL(`**/app/chat/${ana.id}`);
    await expect(findToast(newcomer.page)).toContainText(newcomer.texts.invite.accepted.split("{name}")[1] ?? "");
    await newcomer.write("Mbote");
    await expect
      .poll(() => newcomer.context.cookies().then((all) => all.map((cookie) => cookie.name)))
      .not.toContain("lisolo-invitation");
    await anas.openRoute("/app");
    await expect(page.getByRole("link", { name: "Nouveau" })).toBeVisible();
    await newcomer.close();
  });

  await test.step("somebody with an account signs in and is connected, too", async () => {
    const dans = await TestClient.open(browser, server);
    await anas.goToTab("contacts");
    await expect(page.getByText("Nouveau")).toBeVisible();
    await dans.page.goto(url);
    await dans.page.getByRole("button", { name: invitationTexts.fr.login }).click();
    await dans.logIn(dan.phone);
    await dans.page.waitForURL(`**/app/chat/${ana.id}`);
    // The sender has the contact without a reload.
    await expect(page.getByText(dan.username)).toBeVisible();
    await expect(findToast(dans.page)).toContainText(ana.username);
    await expect(findToast(dans.page)).toHaveCount(0);
    // Signed in already: the log-in page leads into the app, where nothing changes.
    await dans.page.goto(url);
    await dans.page.getByRole("button", { name: invitationTexts.fr.login }).click();
    await dans.page.waitForURL(`**/app/chat/${ana.id}`);
    await expect(dans.composer()).toBeVisible();
    await expect(findToast(dans.page)).toHaveCount(0);
    await dans.close();
  });

  await test.step("the sender who tries the link is led to it", async () => {
    await page.goto(url);
    await page.getByRole("button", { name: invitationTexts.fr.login }).click();
    await page.waitForURL("**/app/senga/invite");
    await expect(findToast(page)).toContainText(texts.invite.own);
    await expect(shown).toHaveText(url);
  });

  await test.step("a withdrawn invitation says so, before and after the sign-up", async () => {
    const late = await TestClient.open(browser, server);
    await late.page.goto(url);
    await late.page.getByRole("button", { name: invitationTexts.fr.register }).click();
    await anas.openRoute("/app/senga");
    await anas.openRoute("/app/senga/invite");
    await expect(page.getByText("18 personnes")).toBeVisible();
    await page.getByRole("button", { name: texts.invite.revoke }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: texts.invite.revoke }).click();
    await expect(page.getByRole("button", { name: texts.invite.create })).toBeVisible();
    await late.register("Trop tard", phoneOf(9_224));
    await expect(late.page.getByText(late.texts.errors.invitation_not_found)).toBeVisible();
    await late.page.goto(url);
    await expect(late.page.getByRole("heading")).toHaveText(invitationTexts.fr.gone);
    await late.close();
  });
});
