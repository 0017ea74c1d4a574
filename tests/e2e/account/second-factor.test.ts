import { expect, test } from "#tests/support/browser/browser-test.ts";
import { CodeApp, expectSelected } from "#tests/support/browser/code-app.ts";
import { PasskeyDevice } from "#tests/support/browser/passkey-devices.ts";
import {
  addApp,
  button,
  devices,
  dialog,
  heading,
  loseAnswer,
  openSecurity,
  signOut,
  typeLogIn,
} from "#tests/support/browser/security-page.ts";
import { fill, TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson, signInAgain, testPassword } from "#tests/support/people/people.ts";
import { accessCookie } from "#worker/lib/http/cookies.ts";

test("a code app is added as the page describes, required at sign-in, although the phone discards the page while its user looks up the code, replaced by a recovery code, and removed", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 2_600, "Ana");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const { security } = texts;
  const step = texts.auth.secondStep;
  await page.addInitScript(() => {
    // Stands in for the printer: what it would get from a frame that is printed alone.
    if (window !== top) window.print = () => sessionStorage.setItem("printed", document.body.textContent);
  });
  await openSecurity(phone, ana);
  await expect(page.getByText(security.step.off, { exact: true })).toBeVisible();

  // Codes cannot be closed without a confirmation, because they are shown once.
  await button(page, security.apps.add).click();
  await expect(page.getByRole("textbox", { name: security.name })).toBeFocused();
  const name = page.getByRole("textbox", { name: security.name });
  await name.fill("Itel");
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await page.route("**/api/auth/factors", (route) => held.then(() => route.continue()));
  await page.keyboard.press("Enter");
  await expect(name).not.toBeEditable();
  await expect(name).toBeFocused();
  await page.keyboard.press("Escape"); // cannot be cancelled while running, and does not look as if it could
  letOn();
  await expect(heading(page, security.apps.scan)).toBeFocused();
  const app = await CodeApp.readFrom(page);
  await expect(page.getByRole("img", { name: security.apps.qr })).toHaveJSProperty("complete", true);
  const first = page.getByLabel(step.code);
  await first.fill("123"); // does not count as an attempt
  await first.press("Enter");
  await expect(first).toHaveAccessibleDescription(new RegExp(step.codeMissing));
  await first.fill(app.wrong());
  await expect(first).toHaveAccessibleDescription(new RegExp(texts.errors.mfa_verification_failed));
  await expectSelected(first);
  // The server accepts the code and its answer is lost. Sent again it is refused, and the app opens all the same.
  await page.route("**/api/auth/factors/*/verify", loseAnswer, { times: 1 });
  await page.keyboard.type(app.next());
  // Without an answer nobody knows whether the old codes are still valid. The last codes shown are valid.
  await page.route("**/api/auth/recovery-codes", (route) => route.abort());
  await button(page, security.codes.makeNow).click();
  await expect(page.getByRole("alert").filter({ hasText: security.codes.unheard })).toBeVisible();
  await page.unroute("**/api/auth/recovery-codes");
  await page.route("**/api/auth/recovery-codes", loseAnswer, { times: 1 });
  await button(page, security.codes.make).click();
  await button(page, security.codes.makeNow).click();
  const shown = dialog(page, security.codes.title).getByRole("listitem");
  await expect(shown).toHaveCount(10);
  const codes = await shown.allInnerTexts();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("alertdialog", { name: security.codes.leaveTitle })).toBeVisible();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.common.back }).click();
  await expect(button(page, security.codes.done)).toBeDisabled();
  await button(page, security.codes.print).click();
  const printed = () => page.evaluate(() => sessionStorage.getItem("printed"));
  await expect.poll(printed).not.toBeNull();
  for (const one of codes) expect(await printed()).toContain(one);
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, security.codes.save).click()]);
  expect(file.suggestedFilename()).toBe(security.codes.file);
  await page.getByLabel(security.codes.noted).check();
  await button(page, security.codes.done).click();
  await expect(page.locator("iframe")).toHaveCount(0);
  await expect(page.getByText(security.step.on, { exact: true })).toBeVisible();
  await expect(page.getByText("Itel")).toBeVisible();
  await expect(page.getByText(fill(security.codes.left_other, { count: 10 }))).toBeVisible();
  await signOut(phone);

  const { pt } = textsOf;
  const field = page.locator("#code"); // by either name, in either language
  const kept = () => page.evaluate(() => sessionStorage.getItem("owing"));
  await typeLogIn(phone, ana);
  await expect(heading(page, step.title)).toBeVisible();
  await expect(field).toBeFocused();
  await field.fill(app.wrong());
  await expect(field).toHaveAccessibleDescription(new RegExp(texts.errors.mfa_verification_failed));
  // The refusal is shown in the current language.
  await page.getByRole("link", { name: "Português" }).click();
  await phone.switchLanguage("pt");
  await expect(field).toHaveAccessibleDescription(new RegExp(pt.errors.mfa_verification_failed));
  // A reload in the middle returns to the step; "cancel" returns to the form, which keeps the number.
  await page.reload();
  await expect(heading(page, pt.auth.secondStep.title)).toBeVisible();
  await expect(field).toBeFocused();
  await button(page, pt.common.cancel).click();
  await expect(page.getByLabel(pt.auth.phoneNumber)).toHaveValue(ana.phone);
  await expect(page.getByLabel(pt.auth.password, { exact: true })).toBeFocused();
  await page.keyboard.type(testPassword);
  await page.keyboard.press("Enter");
  await expect(heading(page, pt.auth.secondStep.title)).toBeVisible();
  expect(await kept()).not.toContain(testPassword);

  // It has expired: the form is shown again with the number.
  await page.reload();
  await expect(field).toBeFocused();
  await phone.context.clearCookies({ name: accessCookie });
  await field.fill(app.wrong());
  await expect(page.getByText(pt.errors.flow_state_not_found).first()).toBeVisible();
  await expect(heading(page, pt.auth.loginTitle)).toBeVisible();
  await expect(page.getByLabel(pt.auth.phoneNumber)).toHaveValue(ana.phone);
  expect(await kept()).toBeNull();
  await page.reload();
  await expect(heading(page, pt.auth.loginTitle)).toBeVisible();

  // The code opens the app, also when it is entered after a reload.
  await typeLogIn(phone, ana);
  await expect(heading(page, pt.auth.secondStep.title)).toBeVisible();
  await page.reload();
  const code = app.next();
  await expect(field).toBeFocused();
  await field.pressSequentially(`${code.slice(0, 3)} ${code.slice(3)}`); // submits itself
  await page.waitForURL("**/app");
  await expect(page.getByRole("status").filter({ hasText: pt.auth.loginSuccessful })).toBeVisible();
  expect(await kept()).toBeNull();

  const other = await TestClient.open(browser, server, "pt");
  await typeLogIn(other, ana);
  await button(other.page, pt.auth.secondStep.useRecovery).click();
  const recovery = other.page.getByLabel(pt.auth.secondStep.recovery);
  await expect(recovery).toBeFocused();
  await recovery.fill("0000-0000-0000");
  await recovery.press("Enter");
  await expect(recovery).toHaveAccessibleDescription(new RegExp(pt.auth.secondStep.recoveryWrong));
  await recovery.fill(codes[0]?.toUpperCase().replaceAll("-", " ") ?? "");
  await recovery.press("Enter");
  await other.page.waitForURL("**/app", { waitUntil: "commit" });
  await other.close();

  await phone.openRoute("/app/security");
  await expect(page.getByText(fill(pt.security.codes.left_other, { count: 9 }))).toBeVisible();
  await expect(page.getByRole("region", { name: pt.security.notices.title })).toBeVisible();
  await button(page, fill(pt.security.removeName, { name: "Itel" })).click();
  await button(page, pt.security.remove).click();
  await expect(page.getByText(pt.security.step.off, { exact: true })).toBeVisible();
  await expect(heading(page, pt.security.title)).toBeFocused();
  const { token } = await signInAgain(site, ana);
  expect((await callSite(site, "GET", "/api/auth/security", { token })).status).toBe(200);
  await phone.close();
});

test("a passkey on a plugged-in key is renamed and removed, and required after the password if its owner chose so", async ({
  browser,
  server,
}) => {
  const gael = await makePerson(toSite(server), 2_610, "Gaël");
  const phone = await TestClient.open(browser, server, "en");
  const { page, texts } = phone;
  const { keys, step, codes } = texts.security;
  await PasskeyDevice.plugInto(page, "usb");
  await page.addInitScript(() => {
    // The authenticator would immediately accept the offer in the number's field.
    PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });
  await openSecurity(phone, gael);
  await button(page, keys.add).click();
  const list = page.getByRole("list", { name: keys.title });
  await expect(list.getByRole("listitem")).toHaveCount(1);
  const options = list.getByRole("button");
  await options.click();
  await page.getByRole("menuitem", { name: keys.rename }).click();
  await page.getByRole("textbox", { name: texts.security.name }).fill("Tecno");
  await page.keyboard.press("Enter");
  await expect(list.getByText("Tecno")).toBeVisible();

  await page.getByRole("switch").click();
  await expect(page.getByRole("switch")).toBeChecked();
  await button(page, codes.later).click();
  await expect(page.getByText(step.on, { exact: true })).toBeVisible();
  await signOut(phone);
  await typeLogIn(phone, gael);
  await expect(button(page, texts.auth.secondStep.usePasskey)).toBeFocused();
  await expect(heading(page, texts.auth.secondStep.title)).toBeVisible();
  await expect(page).toHaveTitle(`${texts.auth.secondStep.title} · Lisolo`);
  await button(page, texts.auth.secondStep.usePasskey).click();
  await page.waitForURL("**/app");
  await phone.openRoute("/app/security");
  await options.click();
  await page.getByRole("menuitem", { name: texts.security.remove }).click();
  await button(page, texts.security.remove).click();
  await expect(list).toHaveCount(0);
  await expect(page.getByText(step.off, { exact: true })).toBeVisible();
  await phone.close();
});

test("a fresh proof is given by the second factor, and the interrupted action continues; a person who lost all factors requests a reset at sign-in, and one tap on another device cancels it", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const eve = await makePerson(site, 2_608, "Eve");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const { codes, reset, stepUp } = texts.security;
  const step = texts.auth.secondStep;
  await openSecurity(phone, eve);
  const { app, codes: before } = await addApp(phone, true);
  // The server's answer when the last proof is old.
  const stale = { code: 403, error_code: "reauthentication_needed", msg: "" };
  await page.route("**/api/auth/recovery-codes", (route) => route.fulfill({ status: 403, json: stale }), { times: 1 });
  await button(page, codes.makeAnew).click();
  await button(page, codes.makeNow).click();
  const asked = dialog(page, stepUp.title);
  await expect(asked.getByText(stepUp.bodyStep)).toBeVisible();
  await expect(asked.getByLabel(texts.auth.password, { exact: true })).toHaveCount(0);
  // On a slow network a typo is corrected before the server has refused it.
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const isTried = page.waitForRequest("**/api/auth/factors/*/verify");
  await page.route("**/api/auth/factors/*/verify", (route) => held.then(() => route.continue()), { times: 1 });
  await asked.getByLabel(step.code).fill(app.wrong());
  await isTried;
  await asked.getByLabel(step.code).fill(app.next());
  answer();
  const shown = dialog(page, codes.title).getByRole("listitem");
  await expect(shown).toHaveCount(10);
  expect(await shown.allInnerTexts()).not.toContain(before[0]);
  await page.getByLabel(codes.noted).check();
  await button(page, codes.done).click();
  await expect(shown).toHaveCount(0);

  // Far from the page's head, where the new notice must still be seen.
  await page.setViewportSize({ width: 360, height: 740 });
  await devices(phone).last().scrollIntoViewIfNeeded();
  const visitor = await TestClient.open(browser, server);
  await typeLogIn(visitor, eve);
  await button(visitor.page, step.lost).click();
  await expect(visitor.page.getByText(step.lostBody)).toBeVisible();
  await button(visitor.page, step.lostAsk).click();
  const due = visitor.page.getByRole("status").filter({ hasText: step.lostDue.split("{")[0] ?? "" });
  await expect(due).toContainText(/\d\d:\d\d/);
  await expect(due.getByRole("paragraph")).toBeFocused();

  const banner = page.getByRole("region", { name: reset.title });
  await expect(banner.getByRole("alert").first()).toContainText(reset.title);
  await expect(banner).toContainText(/\d\d:\d\d/);
  const keep = banner.getByRole("button", { name: reset.keep });
  for (const one of [heading(page, reset.title), keep]) await expect(one).toBeInViewport({ ratio: 1 });
  await expect(devices(phone).last()).toBeInViewport();
  // The focused element is not covered, however large the letters are.
  const field = button(page, texts.security.password.change);
  for (const size of ["100%", "200%"]) {
    await page.evaluate((of) => document.documentElement.style.setProperty("font-size", of), size);
    await devices(phone).last().scrollIntoViewIfNeeded();
    await field.focus();
    const [below, above] = [await field.boundingBox(), await keep.boundingBox()];
    expect(below?.y).toBeGreaterThan((above?.y ?? 0) + (above?.height ?? 0));
    await expect(keep).toBeInViewport({ ratio: 1 });
    await field.blur();
  }
  await keep.click();
  await expect(page.getByText(reset.kept)).toBeVisible();
  await expect(banner).toHaveCount(0);
  await expect(heading(page, texts.security.title)).toBeFocused();
  const { body } = await callSite(site, "GET", "/api/auth/security", { token: eve.token });
  expect((body as { reset: unknown }).reset).toBeNull();

  await button(visitor.page, texts.common.back).click();
  await button(visitor.page, step.lost).click();
  await button(visitor.page, step.lostAsk).click();
  await expect(visitor.page.getByText(texts.errors.reset_paused)).toBeVisible();
  for (const one of [phone, visitor]) await one.close();
});
