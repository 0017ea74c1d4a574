import type { Page } from "@playwright/test";
import { Secret, TOTP } from "otpauth";
import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Enrolled, FactorChallenge, RecoveryCodes } from "#contract/auth/factors.ts";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { expectSelected } from "#tests/support/browser/code-app.ts";
import { fill, TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { eventually } from "#tests/support/eventually.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson, type Person, signInAgain } from "#tests/support/people/people.ts";
import { parseMail, readMails } from "#tests/support/server/mailbox.ts";
import type { Server } from "#tests/support/server/server.ts";
import { accessCookie } from "#worker/lib/http/cookies.ts";

const password = "Nouveau2026";

const post = async (server: Server, { token }: Person, path: string, body: object) => {
  const answer = await callSite(toSite(server), "POST", path, { token, body });
  if (answer.status !== 200 && answer.status !== 201)
    throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const newestMail = (server: Server, email: string, n = 1) =>
  eventually(async () => {
    const mails = await readMails(server.origin, email);
    const [newest] = mails;
    if (!newest || mails.length < n) throw new Error(`${mails.length} mails to ${email}`);
    return parseMail(newest);
  });

/** Person number `n`, with a confirmed recovery address. */
const makeReachable = async (server: Server, n: number): Promise<Person & { email: string }> => {
  const person = await makePerson(toSite(server), n);
  const email = `person-${n}@recover.test`;
  const { status } = await callSite(toSite(server), "PUT", "/api/auth/user", { token: person.token, body: { email } });
  expect(status).toBe(200);
  const { token: token_hash } = await newestMail(server, email);
  await post(server, person, "/api/auth/verify", { type: "email_change", token_hash });
  return { ...person, email };
};
const makeCodes = async (server: Server, person: Person): Promise<string[]> =>
  v.parse(RecoveryCodes, await post(server, person, "/api/auth/recovery-codes", {})).codes;

/** Adds a code app to a person, who then needs a second factor. */
const addCodeApp = async <P extends Person>(server: Server, person: P): Promise<P> => {
  const { id, totp } = v.parse(Enrolled, await post(server, person, "/api/auth/factors", { factor_type: "totp" }));
  const challenge = await post(server, person, `/api/auth/factors/${id}/challenge`, {});
  const code = new TOTP({ secret: Secret.fromBase32(totp.secret) }).generate();
  const challenge_id = v.parse(FactorChallenge, challenge).id;
  const session = await post(server, person, `/api/auth/factors/${id}/verify`, { challenge_id, code });
  return { ...person, token: v.parse(Session, session).access_token };
};

const askByMail = async ({ page, texts }: TestClient, email: string): Promise<void> => {
  await page.getByLabel(texts.recover.email).fill(email);
  await page.getByLabel(texts.auth.robot).check();
  await page.getByRole("button", { name: texts.recover.send }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(texts.recover.sentTitle);
};
const setPassword = async ({ page, texts }: TestClient, first = password, second = first): Promise<void> => {
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(texts.recover.passwordTitle);
  await page.getByLabel(texts.recover.newPassword, { exact: true }).fill(first);
  await page.getByLabel(texts.auth.confirmPassword, { exact: true }).fill(second);
  await page.getByRole("button", { name: texts.recover.save }).click();
};
const expectHome = async ({ page, texts }: TestClient): Promise<void> => {
  await page.waitForURL("**/app", { waitUntil: "commit" });
  await expect(page.getByRole("status").filter({ hasText: texts.recover.done })).toBeVisible();
};

/** Looks at a state of the page: its width on a narrow and a wide screen, and faults on the narrow one, light and dark. */
const look = async (page: Page): Promise<void> => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 360, height: 740 },
  ]) {
    await page.setViewportSize(viewport);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
};

test("the link of a recovery mail sets a new password, and every other device is signed out; axe finds no fault on the way", async ({
  browser,
  server,
}) => {
  const person = await makeReachable(server, 2_620);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(`${request.url()} ${request.headers()["referer"] ?? ""}`));
  await phone.goTo("/login");
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByRole("link", { name: texts.auth.forgotPassword }).click();
  await page.getByRole("button", { name: texts.recover.byCode }).click();
  await expect(page.getByLabel(texts.auth.phoneNumber)).toBeVisible();
  await look(page);
  await page.getByRole("button", { name: texts.recover.byMail }).click();
  await expect(page.getByLabel(texts.recover.email)).toBeVisible();
  await look(page);
  await askByMail(phone, person.email);
  await expect(page.getByText(fill(texts.recover.sentLead, { email: person.email }))).toBeVisible();
  await look(page);

  const { link, token } = await newestMail(server, person.email, 2);
  await page.goto(link);
  await expect(page.getByText(texts.recover.linkLead)).toBeVisible();
  expect(page.url()).not.toContain(token);
  await page.reload();
  await expect(page.getByText(texts.recover.linkLead)).toBeVisible();
  await look(page);
  await page.getByRole("button", { name: texts.auth.secondStep.go }).click();
  await expect(page.getByLabel(texts.auth.phoneNumber)).toHaveValue(person.phone);
  await setPassword(phone, "kort");
  await expect(page.getByText(texts.auth.passwordRequirement)).toBeVisible();
  await look(page);
  await setPassword(phone);
  await expectHome(phone);
  expect(asked.filter((line) => line.includes(token))).toEqual([]);
  expect((await callSite(toSite(server), "GET", "/api/auth/user", { token: person.token })).status).toBe(401);

  // The link works once, and reports this.
  const otherDevice = await TestClient.open(browser, server, "en");
  await otherDevice.page.goto(link);
  await otherDevice.page.getByRole("button", { name: textsOf.en.auth.secondStep.go }).click();
  await expect(otherDevice.page.getByText(textsOf.en.errors.otp_expired)).toBeFocused();
  await otherDevice.page.reload(); // it is not offered again
  await expect(otherDevice.page.getByLabel(textsOf.en.recover.email)).toBeVisible();
  await otherDevice.page.goto(link);
  await otherDevice.page.getByRole("button", { name: textsOf.en.auth.secondStep.go }).click();
  await otherDevice.page.getByRole("button", { name: textsOf.en.recover.again }).click();
  await expect(otherDevice.page.getByLabel(textsOf.en.recover.email)).toBeVisible();
  await signInAgain(toSite(server), { ...person, password });
});

test("the code of a recovery mail, read elsewhere, in English and by keyboard alone: a wrong code is reported and can be corrected", async ({
  browser,
  server,
}) => {
  const person = await makeReachable(server, 2_621);
  const phone = await TestClient.open(browser, server, "en");
  const { page, texts } = phone;
  await phone.goTo("/recover");
  await page.getByLabel(texts.recover.email).focus();
  await page.keyboard.type(person.email.toUpperCase());
  await page.keyboard.press("Tab");
  await expect(page.getByLabel(texts.auth.robot)).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel(texts.recover.code)).toBeFocused();
  const { code } = await newestMail(server, person.email, 2);
  const field = page.getByLabel(texts.recover.code);
  await page.reload(); // the phone discarded the page meanwhile
  await expect(field).toBeFocused();
  await field.pressSequentially(code === "00000000" ? "00000001" : "00000000");
  await expect(page.getByText(texts.recover.mailCodeWrong)).toBeVisible();
  await expect(field).toHaveValue(/^0000000[01]$/);
  await expectSelected(field);
  await page.keyboard.type(code);
  const entered = page.getByLabel(texts.recover.newPassword, { exact: true });
  await expect(entered).toBeFocused();
  await setPassword(phone, password, "Other2026");
  await expect(page.getByText(texts.auth.passwordsDoNotMatch)).toBeVisible();
  await expect(entered).toHaveValue(password);
  await setPassword(phone, person.password);
  await expect(page.getByText(texts.errors.same_password)).toBeVisible();
  await page.reload();
  await entered.focus();
  await page.keyboard.type(password);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await expectHome(phone);
});

test("offline no input is lost, and an unknown address gets the same answer as a known one", async ({
  browser,
  server,
}) => {
  const email = "nobody@recover.test";
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.goTo("/recover");
  await page.getByLabel(texts.recover.email).fill(email);
  await page.getByLabel(texts.auth.robot).check();
  await expect(page.getByText(texts.auth.robotDone)).toBeVisible();
  await phone.context.setOffline(true);
  await page.getByRole("button", { name: texts.recover.send }).click();
  await expect(page.getByText(texts.auth.offline)).toBeVisible();
  await expect(page.getByLabel(texts.recover.email)).toHaveValue(email);
  await phone.context.setOffline(false);
  await page.getByRole("button", { name: texts.recover.send }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(texts.recover.sentTitle);
  await expect(page.getByText(fill(texts.recover.sentLead, { email }))).toBeVisible();
  await page.getByLabel(texts.recover.code).pressSequentially("12345678");
  await expect(page.getByText(texts.recover.mailCodeWrong)).toBeVisible();
  expect(await readMails(server.origin, email)).toEqual([]);
  await page.getByRole("button", { name: texts.recover.again }).click();
  await expect(page.getByLabel(texts.recover.email)).toHaveValue(email);
});

test("a recovery code instead of the password, in Portuguese", async ({ browser, server }) => {
  const owner = await makePerson(toSite(server), 2_622);
  const [code = ""] = await makeCodes(server, owner);
  const phone = await TestClient.open(browser, server, "pt");
  const { page, texts } = phone;
  await phone.goTo("/recover");
  await page.getByRole("button", { name: texts.recover.byCode }).click();
  await page.getByLabel(texts.auth.phoneNumber).fill(owner.phone.replace("+", ""));
  await page.getByLabel(texts.auth.secondStep.recovery).fill("wrong-code");
  await page.getByLabel(texts.auth.robot).check();
  const go = page.getByRole("button", { name: texts.auth.secondStep.go });
  await go.click();
  await expect(page.getByText(texts.recover.codeWrong)).toBeVisible();
  await expect(page.getByLabel(texts.auth.phoneNumber)).toHaveValue(owner.phone.replace("+", ""));
  await page.getByLabel(texts.auth.secondStep.recovery).fill(code.toUpperCase().replaceAll("-", " "));
  await go.click();
  await setPassword(phone);
  await expectHome(phone);
});

test("neither a recovery code nor a mail replaces the second factor, whose step survives that the phone discards the page, and leads back to the form, which keeps the number, if it took too long", async ({
  browser,
  server,
}) => {
  const person = await addCodeApp(server, await makeReachable(server, 2_623));
  const codes = await makeCodes(server, person);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const title = page.getByRole("heading", { level: 1 });
  await phone.goTo("/recover");
  await page.getByRole("button", { name: texts.recover.byCode }).click();
  await page.getByLabel(texts.auth.phoneNumber).fill(person.phone);
  await page.getByLabel(texts.auth.secondStep.recovery).fill(codes[0] ?? "");
  await page.getByLabel(texts.auth.robot).check();
  await page.getByRole("button", { name: texts.auth.secondStep.go }).click();
  await expect(title).toHaveText(texts.auth.secondStep.title);
  await page.reload();
  await expect(page.getByLabel(texts.auth.secondStep.code)).toBeFocused();
  await phone.context.clearCookies({ name: accessCookie }); // it expired
  await page.getByLabel(texts.auth.secondStep.code).fill("123456");
  await expect(page.getByRole("alert").filter({ hasText: texts.recover.tooLate })).toBeVisible();
  await expect(page.getByLabel(texts.auth.phoneNumber)).toHaveValue(person.phone);
  await page.reload();
  await expect(title).toHaveText(texts.auth.recoverTitle);
  await expect(page.getByLabel(texts.recover.email)).toBeVisible();

  await askByMail(phone, person.email);
  await page.getByLabel(texts.recover.code).fill((await newestMail(server, person.email, 2)).code);
  await expect(title).toHaveText(texts.auth.secondStep.title);
  await page.reload();
  await expect(title).toHaveText(texts.auth.secondStep.title);
  await expect(page.getByLabel(texts.auth.secondStep.code)).toBeFocused();
  await page.getByRole("button", { name: texts.auth.secondStep.useRecovery }).click();
  await page.getByLabel(texts.auth.secondStep.recovery).fill(codes[1] ?? "");
  await page.getByRole("button", { name: texts.auth.secondStep.go }).click();
  await expect(title).toHaveText(texts.recover.passwordTitle);
  await page.reload();
  await setPassword(phone);
  await expectHome(phone);
});

test("an address is confirmed by anybody who presses the button behind its mail's link, signed in or not", async ({
  browser,
  server,
}) => {
  const person = await makePerson(toSite(server), 2_624);
  const email = "person-9504@recover.test";
  await callSite(toSite(server), "PUT", "/api/auth/user", { token: person.token, body: { email } });
  const { link } = await newestMail(server, email);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(person, link.replace(server.origin, ""));
  const findEmail = async () =>
    ((await callSite(toSite(server), "GET", "/api/auth/user", { token: person.token })).body as { email?: string })
      .email;
  await expect(page.getByText(texts.recover.confirmLead)).toBeVisible();
  expect(await findEmail()).toBeUndefined();
  await page.getByRole("button", { name: texts.recover.confirm }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(texts.recover.confirmedTitle);
  expect(await findEmail()).toBe(email);
  const open = page.getByRole("link", { name: texts.recover.open });
  await expect(open).toBeFocused();
  await open.click();
  await page.waitForURL("**/app", { waitUntil: "commit" });

  // A used link offers nothing that can only fail, and leads to the form for a new one.
  await page.goto(link);
  await page.getByRole("button", { name: texts.recover.confirm }).click();
  await expect(page.getByText(texts.errors.otp_expired)).toBeFocused();
  await expect(page.getByRole("button", { name: texts.recover.confirm })).toHaveCount(0);
  await page.getByRole("link", { name: texts.recover.openSecurity }).click();
  await page.waitForURL("**/app/security", { waitUntil: "commit" });
});

test("input and a submission from before the script arrives are executed, once", async ({ browser, server }) => {
  const person = await makeReachable(server, 2_627);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  let asked = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes("/api/auth/recover")) asked += 1;
  });
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route("**/assets/**/*.js", (route) => arrived.then(() => route.continue()));
  await page.goto("/recover", { waitUntil: "commit" });
  await page.getByLabel(texts.recover.email).fill(person.email);
  await page.getByLabel(texts.auth.robot).check();
  await page.getByLabel(texts.recover.email).press("Enter");
  await expect(page.getByRole("button", { name: texts.recover.send })).toHaveAttribute("aria-busy", "true");
  arrive();
  await expect(page.getByLabel(texts.recover.code)).toBeVisible();
  expect(asked).toBe(1);
});
