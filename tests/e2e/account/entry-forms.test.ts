import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, findToast, onePixelPng, textsOf } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makeCaptchaToken, makePerson, phoneOf } from "#tests/support/people/people.ts";

const { en } = textsOf;
const smallPicture = { name: "picture.png", mimeType: "image/png", buffer: onePixelPng };
const password = "Masolo2026";

/** Fields by their names, which are the same in every language. */
const field = (page: Page, name: string) => page.locator(`[name=${name}]`);
const submit = (page: Page) => page.locator("[type=submit]");

/** The error stands once, next to its field, which is marked invalid and has the focus. */
const expectRefusal = async (page: Page, name: string, text: string) => {
  await expect(page.getByText(text, { exact: true })).toHaveCount(1);
  await expect(findToast(page)).toHaveCount(0);
  await expect(field(page, name)).toHaveAttribute("aria-invalid", "true");
  await expect(field(page, name)).toHaveAccessibleDescription(new RegExp(text.replace(/[+.?]/g, "\\$&")));
  await expect(field(page, name)).toBeFocused();
  await expect(page.locator("[aria-invalid=true]")).toHaveCount(1);
};

test("registration shows each error at its field, on a small phone too, and opens /app, to which the entry pages then lead", async ({
  page,
  server,
}) => {
  const { auth, common } = textsOf.fr;
  const number = "243810000021";
  const taken = await makePerson(toSite(server), 27);
  const say = (text: string, name: string) => expectRefusal(page, name, text);
  await page.setViewportSize({ width: 360, height: 560 });
  await page.goto("/register?lang=fr");

  await submit(page).click();
  await say(auth.profilePictureRequired, "avatar");

  // A notice does not cover the field it is about.
  await field(page, "avatar").setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("no") });
  const notice = findToast(page);
  await expect(notice).toContainText(auth.notAnImage);
  const bottomOf = async () => (await notice.boundingBox())?.height ?? 0;
  await expect.poll(async () => ((await field(page, "avatar").boundingBox())?.y ?? 0) >= (await bottomOf())).toBe(true);
  await field(page, "avatar").setInputFiles({
    name: "huge.png",
    mimeType: "image/png",
    buffer: Buffer.alloc(5_242_881),
  });
  await expect(page.getByRole("alert")).toContainText(auth.fileTooLargeTitle);
  await expect(page.getByRole("alert")).toContainText(auth.fileTooLarge);
  // A damaged picture, and one of a format that this browser cannot read and the system does not know.
  for (const [name, mimeType] of [
    ["x.png", "image/png"],
    ["PHOTO.HEIC", ""],
  ] as const) {
    await field(page, "avatar").setInputFiles({ name, mimeType, buffer: Buffer.from("not a picture") });
    await expect(page.getByRole("alert").getByText(common.pictureUnreadable)).toBeVisible();
    await page.getByRole("alert").getByRole("button", { name: common.close }).click();
  }
  await submit(page).click();
  await say(auth.profilePictureRequired, "avatar");

  // tests/unit/account/validate-registration.test.ts has all errors, in their order.
  await field(page, "avatar").setInputFiles(smallPicture);
  await expect(page.locator("form img")).toHaveAttribute("src", /^blob:/);
  await submit(page).click();
  await say(auth.allFieldsRequired, "displayName");
  await field(page, "displayName").fill("Amina");
  await field(page, "phoneNumber").fill(`+${number}`);
  await field(page, "password").fill(password);
  await field(page, "confirmPassword").fill("lang");
  await submit(page).click();
  await say(auth.invalidPhoneNumberFormat, "phoneNumber");
  await field(page, "phoneNumber").fill(number);
  // The server refuses common passwords that meet the rule: the hint says so before.
  await expect(page.getByText(auth.passwordHint)).toContainText(/refus|recusad/);
  await submit(page).click();
  await say(auth.passwordsDoNotMatch, "confirmPassword");
  await field(page, "confirmPassword").fill(password);
  await submit(page).click();
  await say(auth.mustCheckRobot, "robot");

  await field(page, "robot").check();
  await field(page, "phoneNumber").fill(taken.phone.slice(1));
  await submit(page).click();
  await say(auth.phoneAlreadyRegistered, "phoneNumber");
  await field(page, "phoneNumber").fill(number);
  await submit(page).click();
  await page.waitForURL("**/app", { waitUntil: "commit" });
  await expect(page.getByRole("status").filter({ hasText: auth.accountCreated })).toBeVisible();

  // A signed-in person does not need the entry pages.
  for (const path of ["/", "/login", "/register"]) {
    await page.goto(path, { waitUntil: "commit" });
    await page.waitForURL("**/app", { waitUntil: "commit" });
  }
});

/** Error codes that the server answered to password sign-ins of this page, and its requests for a proof of work. */
const watchSignIns = (page: Page) => {
  const codes: string[] = [];
  let challenges = 0;
  page.on("response", async (response) => {
    if (response.url().endsWith("/api/auth/challenge")) challenges++;
    if (!response.url().endsWith("/api/auth/token?grant_type=password") || response.ok()) return;
    codes.push(((await response.json()) as { error_code: string }).error_code);
  });
  const countOf = (code: string) => codes.filter((one) => one === code).length;
  return { countOf, countChallenges: () => challenges };
};

test("log-in shows each error once, also how long to wait after five wrong passwords, and a person who mistypes theirs four times can sign in with the fifth attempt, without noticing the proof of work", async ({
  page,
  server,
}) => {
  const site = toSite(server);
  const person = await makePerson(site, 36);
  const { auth, errors, shell } = textsOf.fr;
  const seen = watchSignIns(page);
  await page.goto("/login?lang=fr");
  await submit(page).click();
  await expectRefusal(page, "phoneNumber", auth.fillAllFields);
  await field(page, "phoneNumber").fill(person.phone.slice(1));
  for (let n = 1; n <= 3; n++) {
    await field(page, "password").fill("Wrong2026");
    await submit(page).click();
    await expect.poll(() => seen.countOf("invalid_credentials")).toBe(n);
    await expectRefusal(page, "password", errors.invalid_credentials);
  }
  // When the focus moves to the field, a screen reader reads the error there. When it is there already, the error is
  // announced.
  await expect(page.getByRole("alert")).toHaveCount(0);
  await field(page, "password").press("Enter");
  await expect.poll(() => seen.countOf("invalid_credentials")).toBe(4);
  await expect(page.getByRole("alert")).toContainText(errors.invalid_credentials);
  await expect(page.getByText(errors.captcha_failed)).toHaveCount(0);
  expect(seen.countChallenges()).toBeGreaterThan(0);

  const unknown = phoneOf(38);
  for (let n = 1; n <= 5; n++) {
    const captcha_token = await makeCaptchaToken(site, { action: "sign_in", subject: unknown });
    const body = { phone: unknown, password: "Wrong2026", gotrue_meta_security: { captcha_token } };
    const refused = await callSite(site, "POST", "/api/auth/token?grant_type=password", { body });
    expect(refused.body).toMatchObject({ error_code: "invalid_credentials" });
  }
  await field(page, "phoneNumber").fill(unknown);
  await submit(page).click();
  const wait = fill(shell.rateLimitedMinutes_other, { count: 5 });
  await expect(page.locator("#form")).toHaveText(`${auth.signInFailed}${wait}`);
  await expect(page.locator("#form")).toBeFocused();
  await expect(findToast(page)).toHaveCount(0);

  const before = seen.countChallenges();
  await field(page, "phoneNumber").fill(person.phone);
  await field(page, "password").fill(password);
  await submit(page).click();
  await page.waitForURL("**/app", { waitUntil: "commit" });
  await expect(page.getByRole("status").filter({ hasText: auth.loginSuccessful })).toBeVisible();
  expect(seen.countChallenges()).toBe(before + 1);
});

const fillRegistration = async (page: Page, phone: string) => {
  await field(page, "avatar").setInputFiles(smallPicture);
  await field(page, "displayName").fill("Ben");
  await field(page, "phoneNumber").fill(phone);
  await field(page, "password").fill(password);
  await field(page, "confirmPassword").fill(password);
  await field(page, "robot").check();
};

test("input survives a reload, except passwords, being offline, which is shown, and a lost answer, after which the next attempt completes the registration and says that the picture could not be stored", async ({
  page,
  context,
}) => {
  await page.goto("/register?lang=en");
  await fillRegistration(page, "243810000033");
  await expect(page.getByText(en.auth.robotDone)).toBeVisible();
  await page.goto("/register");
  await expect(field(page, "displayName")).toHaveValue("Ben");
  await expect(field(page, "phoneNumber")).toHaveValue("243810000033");
  await expect(field(page, "password")).toHaveValue("");
  const kept = () => page.evaluate(() => Object.entries(sessionStorage));
  expect(await kept()).toEqual([["typed-register", "displayName=Ben&phoneNumber=243810000033"]]);

  await field(page, "avatar").setInputFiles(smallPicture);
  await context.setOffline(true);
  await fillRegistration(page, "243810000033");
  await expect(page.getByText(en.auth.robotWaiting)).toBeVisible();
  await submit(page).click();
  const form = page.locator("#form");
  await expect(form).toContainText(en.auth.offline);
  await expect(page.getByText(en.auth.offline).last()).toBeVisible();
  await expect(field(page, "password")).toHaveValue(password);
  await expect(field(page, "robot")).toBeChecked();
  await context.setOffline(false);

  let lost = 0;
  await page.route(
    "**/api/auth/signup",
    async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
      lost++;
    },
    { times: 1 },
  );
  await submit(page).click();
  await expect.poll(() => lost).toBe(1);
  await expect(form).toContainText(en.auth.offline);
  await expect(field(page, "displayName")).toHaveValue("Ben");

  await page.route("**/api/profile/avatar", (route) => route.fulfill({ status: 503, body: "" }));
  await submit(page).click();
  await page.waitForURL("**/app", { waitUntil: "commit" });
  await expect(page.getByRole("status").filter({ hasText: "Account Created" })).toContainText(
    "Your account is ready, but there was an issue setting up your profile. You can update it later.",
  );
  await expect.poll(kept).toEqual([]);
});

test("registration can be filled and sent with the keyboard alone, and silently repeats a proof of work that has expired", async ({
  page,
}) => {
  let challenges = 0;
  await page.route("**/api/auth/challenge", (route) => {
    challenges++;
    return route.continue();
  });
  await page.goto("/register?lang=en");
  await page.locator("[name=avatar]").focus();
  await field(page, "avatar").setInputFiles(smallPicture);
  const crop = page.getByRole("button", { name: en.profile.cropTitle });
  await expect(crop).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(crop).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.type("Chloé");
  await page.keyboard.press("Tab");
  await page.keyboard.type("243810000035");
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: en.auth.showPassword }).first()).toBeFocused();
  await page.keyboard.press("Space");
  await expect(field(page, "password")).toHaveAttribute("type", "text");
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await expect(field(page, "robot")).toBeFocused();
  await page.keyboard.press("Space");
  await expect(page.getByText(en.auth.robotDone)).toBeVisible();
  await page.clock.install();
  await page.clock.fastForward("10:00");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/app", { waitUntil: "commit" });
  expect(challenges).toBe(2);
});
