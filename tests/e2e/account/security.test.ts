import { expect, test } from "#tests/support/browser/browser-test.ts";
import { button, devices, dialog, loseAnswer, openSecurity } from "#tests/support/browser/security-page.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson, signInAgain, testPassword } from "#tests/support/people/people.ts";
import { expireProofs } from "#tests/support/server/expired-proofs.ts";
import { parseMail, readMails } from "#tests/support/server/mailbox.ts";

const newPassword = "Masolo2027";

test("a new password needs a network, to be typed twice and a fresh proof, loses no input, and signs out the other devices", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ben = await makePerson(site, 2_605, "Ben");
  const tablet = await signInAgain(site, ben);
  const phone = await TestClient.open(browser, server, "en");
  const { page, texts } = phone;
  const { notices, password, stepUp } = texts.security;
  await openSecurity(phone, ben, { hasNews: true });
  await expireProofs(server);

  const opener = button(page, password.change);
  await opener.click();
  const [field, again] = [page.getByLabel(password.new, { exact: true }), page.getByLabel(texts.auth.confirmPassword)];
  await expect(field).toBeFocused();
  await field.fill("masolo");
  await field.press("Enter");
  await expect(field).toHaveAccessibleDescription(new RegExp(texts.auth.passwordRequirement));
  await field.fill(newPassword);
  await again.fill("Masolo2028");
  await again.press("Enter");
  await expect(again).toHaveAccessibleDescription(texts.auth.passwordsDoNotMatch);
  await again.fill(newPassword);
  await phone.context.setOffline(true);
  await again.press("Enter");
  await expect(page.getByRole("dialog").getByRole("alert").getByText(texts.errors.offline)).toBeVisible();
  await phone.context.setOffline(false);
  await button(page, password.submit).click();

  const own = dialog(page, stepUp.title).getByLabel(texts.auth.password, { exact: true });
  await expect(own).toBeFocused();
  await own.fill("Wrong2026");
  await own.press("Enter");
  await expect(own).toHaveAccessibleDescription(stepUp.passwordWrong);
  await page.keyboard.press("Escape"); // the text typed below is still there
  await expect(dialog(page, stepUp.title)).toHaveCount(0);
  await expect(again).toHaveValue(newPassword);
  await button(page, password.submit).click();
  await own.fill(testPassword);
  // While the request runs, the form can be neither changed nor left.
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  let tries = 0;
  await page.route("**/api/auth/user", async (route) => {
    await held;
    return ++tries === 1 ? loseAnswer(route) : route.continue();
  });
  const underWay = page.waitForRequest("**/api/auth/user");
  await own.press("Enter");
  await underWay;
  await expect(dialog(page, stepUp.title)).toHaveCount(0);
  for (const one of [field, again]) await expect(one).not.toBeEditable();
  await again.focus();
  await page.keyboard.type("x");
  await page.keyboard.press("Escape");
  await expect(again).toHaveValue(newPassword);
  const askedAgain = page.waitForResponse("**/api/auth/user");
  letOn();
  await askedAgain;
  await expect(page.getByRole("status").filter({ hasText: password.done })).toBeVisible();
  await expect(opener).toBeFocused();
  await expect(devices(phone)).toHaveCount(1);
  await expect(page.getByRole("region", { name: notices.title })).not.toContainText(notices.events.password_changed);
  expect((await callSite(site, "GET", "/api/auth/user", { token: tablet.token })).status).toBe(401);
  await signInAgain(site, { ...ben, password: newPassword });
  await phone.close();
});

test("the security page says that it needs a network, and loads once there is one; devices are signed out, one or all others, and each tab shows it; a recovery address stays pending until the code of its mail is typed, and can be removed", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const didier = await makePerson(site, 2_607, "Didier");
  const phone = await TestClient.open(browser, server, "pt");
  const { page, texts } = phone;
  const { codes, devices: words, email, notices, offlineTitle, title } = texts.security;
  for (const system of ["Android 10", "X11; Linux x86_64", "Windows NT 10.0"]) {
    const headers = { "user-agent": `Mozilla/5.0 (${system}) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36` };
    const body = { phone: didier.phone, password: testPassword };
    await callSite(site, "POST", "/api/auth/token?grant_type=password", { body, headers });
  }
  await phone.signIn(didier, "/app/profile");
  await expect(page.getByRole("region", { name: notices.title })).toBeVisible();
  await page.route("**/api/auth/security", (route) => route.abort());
  await page.getByRole("link", { name: title }).click();
  await expect(page.getByRole("alert").getByText(offlineTitle)).toBeVisible();
  await expect(button(page, texts.common.retry)).toBeVisible();
  await page.unroute("**/api/auth/security");
  await expect(page.getByText(words.current)).toBeVisible();

  const otherTab = await phone.context.newPage();
  await phone.goTo("/app/security", otherTab);
  const listed = otherTab.getByRole("list", { name: words.title }).getByRole("listitem");
  await expect(listed).toHaveCount(4);
  await page.bringToFront();
  await expect(devices(phone)).toHaveCount(4);
  await expect(devices(phone).first()).toContainText(words.current);

  // Two of one kind differ by their last use, also for a person who only hears the button and the question.
  const since = new RegExp(words.since.split("{")[0] ?? "");
  const ends = button(page, fill(words.endName, { name: "Chrome · Windows" }));
  await expect(ends).toHaveAccessibleDescription(since);
  await ends.click();
  await expect(page.getByRole("alertdialog")).toHaveAccessibleDescription(since);
  await button(page, words.end).click();
  await expect(devices(phone)).toHaveCount(3);
  await otherTab.bringToFront();
  await otherTab.evaluate(() => dispatchEvent(new Event("focus"))); // a test window always has the focus
  await expect(listed).toHaveCount(3);

  await page.bringToFront();
  await button(page, words.endOthers).click();
  await button(page, words.end).click();
  await expect(devices(phone)).toHaveCount(1);
  await expect(button(page, words.endOthers)).toHaveCount(0);
  const { body } = await callSite(site, "GET", "/api/auth/sessions", { token: didier.token });
  expect((body as { devices: unknown[] }).devices).toHaveLength(1);
  await otherTab.close();

  const address = "didier.2607@example.org";
  await button(page, email.add).click();
  const field = page.getByLabel(email.label);
  await field.fill("didier@");
  await field.press("Enter");
  await expect(field).toHaveAccessibleDescription(email.invalid);
  await field.fill(address);
  await field.press("Enter");
  await expect(page.getByText(fill(email.pending, { email: address }))).toBeVisible();
  await expect(page.getByLabel(email.code)).toBeFocused();
  await expect.poll(async () => (await readMails(server.origin, address)).length).toBe(1);
  const [mail] = await readMails(server.origin, address);
  if (!mail) throw new Error("no mail came");
  const { code: old } = parseMail(mail);
  await page.getByLabel(email.code).fill(old === "00000000" ? "11111111" : "00000000");
  await expect(page.getByLabel(email.code)).toHaveAccessibleDescription(new RegExp(texts.recover.mailCodeWrong));
  // Two taps request one mail, and the input for the previous one is cleared.
  await button(page, email.again).dblclick();
  await expect(page.getByRole("status").filter({ hasText: email.sentAgain })).toBeVisible();
  await expect(page.getByLabel(email.code)).toHaveValue("");
  await expect(page.getByLabel(email.code)).not.toHaveAccessibleDescription(new RegExp(texts.recover.mailCodeWrong));
  await expect.poll(async () => (await readMails(server.origin, address)).length).toBe(2);
  const [newest] = await readMails(server.origin, address);
  if (!newest) throw new Error("no mail came");
  const { code } = parseMail(newest);
  await page.getByLabel(email.code).fill(code);
  await expect(page.getByText(email.set)).toBeVisible();
  await expect(page.getByText(address)).toBeVisible();
  await button(page, email.remove).click();
  await button(page, texts.security.remove).click();
  await expect(page.getByText(email.about)).toBeVisible();

  // Without an address and without a second factor, the password is not the only thing asked for.
  await expect(page.getByText(codes.noneYet)).toBeVisible();
  await button(page, codes.make).click();
  await expect(page.getByRole("alertdialog", { name: codes.firstTitle })).toContainText(codes.bodyAlone);
  await button(page, codes.makeNow).click();
  await expect(dialog(page, codes.title).getByRole("listitem")).toHaveCount(10);
  await page.getByLabel(codes.noted).check();
  await button(page, codes.done).click();
  await expect(page.getByText(fill(codes.left_other, { count: 10 }))).toBeVisible();
  await expect(page.getByText(texts.security.step.off, { exact: true })).toBeVisible();
  await phone.close();
});
