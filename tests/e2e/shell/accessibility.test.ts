import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations, findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { CodeApp } from "#tests/support/browser/code-app.ts";
import { makePicture } from "#tests/support/browser/media.ts";
import { PasskeyDevice } from "#tests/support/browser/passkey-devices.ts";
import { fill, TestClient, type Texts } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson } from "#tests/support/people/people.ts";
import { type SeededHistory, seedHistory } from "#tests/support/server/seeded-history.ts";

const narrow = { width: 360, height: 740 };
const wide = { width: 1280, height: 800 };

let people: SeededHistory;
test.beforeAll(async ({ server }) => {
  people = await seedHistory(toSite(server), 6_600);
});

/** Routes of the app, read from the source, because the module itself needs a browser. */
const listRoutes = (): string[] => {
  const source = readFileSync("src/app/routes.ts", "utf8");
  return [...new Set([...source.matchAll(/path: "(\/app[^"]*)"/g)].map(([, path = ""]) => path))];
};

/** Waits until a route shows its complete content. */
type Look = (page: Page, texts: Texts) => Locator[];
const text =
  (...words: string[]): Look =>
  (page) =>
    words.map((word) => page.getByRole("main").getByText(word).first());

const looks: Record<string, Look> = {
  "/app": (page) => ["Ben Kasongo", "Famille", "Chloé"].map((name) => page.getByRole("link", { name }).first()),
  "/app/contacts": text("Ben Kasongo", "Chloé"),
  "/app/senga": text("Didier Ilunga"),
  "/app/makutano": text("Ben Kasongo"),
  "/app/tala": (page) => [
    page.getByText("Une belle journée à tous"),
    page.getByText("Mbote na bino"),
    page.getByRole("button", { name: /Ana Mbuyi/ }).locator("img"),
  ],
  "/app/services": (page, texts) => [page.getByText(texts.services.noneTitle)],
  "/app/chat/:userId": (page, texts) => [
    page.getByText("À ce soir").last(),
    page.getByText("Vue du fleuve").last(),
    page.getByRole("button", { name: texts.messages.playVoice }).first(),
    page.getByText(texts.chat.deletedMessage).first(),
    page.getByText(texts.callLines.outcomes.audio.cancelled).first(),
  ],
  "/app/user/:userId": (page, texts) => [page.getByText(texts.contacts.person.since)],
  "/app/profile": (page, texts) => [page.getByText(texts.profile.deleteAccount)],
  "/app/group/:groupId": text("Bonsoir la famille"),
  "/app/group/:groupId/members": text("Ben Kasongo"),
  "/app/create-group": text("Ben Kasongo"),
  "/app/blocked": text("Chloé"),
  "/app/starred": (page, texts) => [page.getByText(texts.starred.none)],
  "/app/appearance": (page, texts) => [page.getByText(texts.appearance.sampleTheirs)],
  "/app/notifications": text("Famille"),
  "/app/privacy": (page, texts) => [page.getByText(texts.settings.privacy.seen.title)],
  "/app/security": (page, texts) => [
    page.getByText(texts.security.step.off, { exact: true }),
    page.getByText(texts.security.devices.current),
  ],
  "/app/help": (page) => [page.locator("summary").first()],
  "/app/handle": (page, texts) => [page.getByText(texts.handle.hint), page.getByText(texts.handle.link.create)],
  "/app/verify-number": (page, texts) => [page.getByRole("button", { name: texts.number.methods.sms_code })],
  "/app/v/:token": (page, texts) => [page.getByText(texts.errors.vouching_not_found)],
  "/app/u/:token": (page, texts) => [page.getByText(texts.errors.link_not_found)],
  "/app/senga/scan": (page, texts) => [page.getByText(texts.scan.aim)],
  "/app/senga/invite": (page, texts) => [page.getByRole("button", { name: texts.invite.create })],
  "/app/install": (page, texts) => [page.getByText(texts.install.menu)],
  "/app/share/:shareId": (page, texts) => [page.getByText(texts.share.goneTitle)],
};

/** A route of each layout of wide screens: the list with nothing open, beside a chat, and beside a feed of one column. */
const shownWide = ["/app", "/app/chat/:userId", "/app/tala"];

/** Checks both themes. */
const expectClean = async (page: Page, what: string): Promise<void> =>
  expect.soft(await findAxeViolationsInBothThemes(page), what).toEqual([]);

const leave = async (page: Page, layer: Locator): Promise<void> => {
  await page.keyboard.press("Escape");
  await expect(layer).toHaveCount(0);
};

test("axe finds no fault in any route of the app with its full content, light and dark, nor in any layout of wide screens", async ({
  browser,
  server,
}) => {
  const routes = listRoutes();
  expect(routes.length).toBeGreaterThan(10);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(people.ana);
  for (const route of routes) {
    await phone.openRoute(route.replace(":userId", people.ben.id).replace(":groupId", people.group));
    const look = looks[route];
    expect(look, `${route} is looked at`).toBeDefined();
    for (const part of look?.(page, texts) ?? []) await expect(part, route).toBeVisible();
    await expectClean(page, route);
    if (!shownWide.includes(route)) continue;
    await page.setViewportSize(wide);
    const beside = page.getByRole("list", { name: texts.masolo.list }).getByRole("listitem");
    await expect(beside.or(page.getByText(texts.shell.nothingOpen.title)).first()).toBeVisible();
    expect.soft(await findAxeViolations(page), `${route} wide and dark`).toEqual([]);
    await page.setViewportSize(narrow);
  }
  await phone.close();
});

test("axe finds no fault in overlays of a chat, light and dark", async ({ browser, server }) => {
  const { ana, ben, group } = people;
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const item = (name: string) => page.getByRole("menuitem", { name, exact: true });
  const openMenu = async (words: string) => {
    await phone.message(words).locator("bdi").first().click({ button: "right" });
    await expect(page.getByRole("menu")).toBeVisible();
  };

  let letCome = () => {};
  const held = new Promise<void>((resolve) => {
    letCome = resolve;
  });
  await phone.context.route(/\/files\//, (route) => held.then(() => route.continue()));
  await phone.signInToChat(ana, ben.id);
  await expect(phone.message("Mbote Ben")).toBeVisible();
  await expect(page.getByRole("button", { name: texts.messages.loadPicture }).first()).toBeDisabled();
  await expectClean(page, "a picture on its way");
  letCome();
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await expectClean(page, "the chat's menu");
  await item(texts.chat.clear).click();
  await expectClean(page, "the question before clearing");
  await leave(page, page.getByRole("alertdialog"));

  await openMenu("Mbote Ben");
  await expectClean(page, "a message's menu");
  await item(texts.messages.forward).click();
  const forward = page.getByRole("dialog", { name: texts.messages.forwardTitle });
  await forward.getByRole("checkbox", { name: ben.username }).check({ force: true });
  await expectClean(page, "forwarding");
  await leave(page, forward);
  await openMenu("Mbote Ben");
  await item(texts.common.delete).click();
  await expectClean(page, "the question before a message is deleted");
  await leave(page, page.getByRole("alertdialog"));

  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await item(texts.chat.search).click();
  await page.getByRole("searchbox").fill("Mbote");
  await expect(page.getByText(/résultats?$/).first()).toBeVisible();
  await expectClean(page, "the search in a chat");
  await page.getByRole("searchbox").fill("zzzz");
  await expect(page.getByText(texts.chat.noneTitle)).toBeVisible();
  await expectClean(page, "a search without results");

  await phone.goTo(`/app/group/${group}`);
  await openMenu("Bonsoir");
  await item(texts.groups.receipts.title).click();
  await expect(page.getByRole("dialog", { name: texts.groups.receipts.title }).getByRole("listitem")).toHaveCount(1);
  await expectClean(page, "who has read it");

  await phone.goTo("/app/contacts");
  await page.getByRole("button", { name: fill(texts.contacts.deleteName, { name: ben.username }) }).click();
  await expectClean(page, "the question before a contact is deleted");
  await page.keyboard.press("Escape");
  const banner = page.locator("[data-news]");
  await expect(async () => {
    await sendTexts(toSite(server), ben, privateConversationId(ana.id, ben.id), ["Tu es là ?"]);
    await expect(banner).toBeVisible({ timeout: 1_500 });
  }).toPass();
  await banner.getByRole("link").focus(); // hovered, it stays
  await expectClean(page, "what says that a message arrived");
  await phone.context.setOffline(true);
  await expect(page.getByText(texts.shell.link.offline)).toBeVisible();
  await expectClean(page, "the line that says there is no network");
  await phone.close();
});

test("axe finds no fault in overlays of Tala, the profile and help, light and dark", async ({ browser, server }) => {
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(people.ana, "/app/tala");
  const enlarge = page.getByRole("button", { name: fill(texts.tala.enlarge, { name: people.ben.username }) });
  await enlarge.click();
  await expect(page.getByRole("dialog").locator("img[data-scale]")).toBeVisible();
  await expectClean(page, "a status's picture");
  await leave(page, page.getByRole("dialog"));
  await page.getByRole("button", { name: texts.tala.write }).click();
  await page.getByRole("button", { name: texts.tala.camera }).click();
  const camera = page.getByRole("dialog", { name: texts.chat.camera.title });
  await expect(camera.getByRole("button", { name: texts.chat.camera.shutter })).toBeEnabled();
  await expectClean(page, "the camera");
  await leave(page, camera);
  const picture = await makePicture(page, "marché.png", { width: 600, height: 1_200, type: "image/png" });
  await page.locator('input[data-attach="image"]').setInputFiles(picture);
  await expect(page.getByRole("img", { name: texts.tala.preview })).toBeVisible();
  await page.getByRole("textbox", { name: texts.tala.composer }).fill("é".repeat(300));
  await expectClean(page, "the composer, with too much in it");
  await page.getByRole("button", { name: texts.tala.publish, exact: true }).click();
  await expect(page.getByRole("alert")).toContainText(texts.errors.post_too_long);
  await page.getByRole("alert").getByRole("button").focus();
  await expectClean(page, "a failure that is told");

  await phone.goTo("/app/profile");
  await page.getByRole("button", { name: texts.profile.editName }).click();
  await expectClean(page, "the own name while it is edited");
  await page.getByLabel(texts.auth.changePicture).setInputFiles(picture);
  const crop = page.getByRole("dialog", { name: texts.profile.cropTitle });
  await expect(crop.getByRole("application")).toBeFocused();
  await expectClean(page, "the frame of the own picture");
  await crop.getByRole("button", { name: texts.profile.cropUse }).click();
  await expect(page.getByText(texts.profile.pictureWaits)).toBeVisible();
  await expectClean(page, "a picture that waits to be saved");
  await page.getByRole("button", { name: texts.profile.deleteAccount, exact: true }).click();
  await expect(page.getByRole("alertdialog")).toBeVisible();
  await expectClean(page, "the question before an account is deleted");
  await leave(page, page.getByRole("alertdialog"));

  await phone.goTo("/app/help");
  await page.locator("summary").first().click();
  await expectClean(page, "an answer of the help");
  await page.getByRole("searchbox").fill("zzzz");
  await expect(page.getByText(texts.help.noneTitle)).toBeVisible();
  await expectClean(page, "a search of the help without results");
  await phone.close();
});

test("axe finds no fault in the security page in use, its overlays and the second factor step, light and dark", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 6_605, "Ana");
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const { security } = texts;
  const step = texts.auth.secondStep;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  /** The server requires a proof of work for the next request of this path. */
  const wantProof = (path: string) => {
    const json = { code: 403, error_code: "reauthentication_needed", msg: "" };
    return page.route(path, (route) => route.fulfill({ status: 403, json }), { times: 1 });
  };
  await PasskeyDevice.plugInto(page);
  await phone.signIn(ana, "/app/security");

  await button(security.password.change).click();
  await button(security.password.submit).click();
  await expectClean(page, "a password to change, with what is wrong");
  await page.getByLabel(security.password.new, { exact: true }).fill("Masolo2027");
  await page.getByLabel(texts.auth.confirmPassword).fill("Masolo2027");
  await wantProof("**/api/auth/user");
  await button(security.password.submit).click();
  const proof = page.getByRole("dialog", { name: security.stepUp.title });
  await proof.getByLabel(texts.auth.password, { exact: true }).press("Enter");
  await expect(proof.getByText(security.stepUp.passwordMissing)).toBeVisible();
  await expectClean(page, "the password as a proof");
  await leave(page, proof);
  await leave(page, page.getByRole("dialog"));

  await button(security.keys.add).click();
  await expect(page.getByRole("switch")).toBeVisible();
  await button(security.email.add).click();
  await expectClean(page, "an address to set");
  await page.getByLabel(security.email.label).fill("ana.6605@example.org");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel(security.email.code)).toBeVisible();

  await button(security.apps.add).click();
  await expectClean(page, "a code app's name");
  await button(step.go).click();
  const app = await CodeApp.readFrom(page);
  await page.getByLabel(step.code).fill(app.wrong());
  await expect(page.getByText(texts.errors.mfa_verification_failed)).toBeVisible();
  await expectClean(page, "a code app's key, with a wrong code");
  await page.getByLabel(step.code).fill(app.next());
  await expect(page.getByText(security.codes.firstTitle)).toBeVisible();
  await expectClean(page, "the offer of recovery codes");
  await button(security.codes.makeNow).click();
  await expect(page.getByRole("dialog").getByRole("listitem")).toHaveCount(10);
  await expectClean(page, "recovery codes");
  await page.getByLabel(security.codes.noted).check();
  await button(security.codes.done).click();

  await callSite(site, "POST", "/api/auth/token?grant_type=password", { body: ana }).then(({ body }) =>
    callSite(site, "POST", "/api/auth/factors/reset", { token: (body as { access_token: string }).access_token }),
  );
  await expect(page.getByRole("region", { name: security.reset.title })).toBeVisible();
  await expectClean(page, "the page with all there can be on it");
  await wantProof("**/api/auth/recovery-codes");
  await button(security.codes.makeAnew).click();
  await button(security.codes.makeNow).click();
  await expect(proof.getByLabel(step.code)).toBeFocused();
  await expectClean(page, "the second step as a proof");
  await phone.close();

  const visitor = await TestClient.open(browser, server);
  await visitor.goTo("/login");
  await visitor.page.getByLabel(texts.auth.phoneNumber).fill(ana.phone);
  await visitor.page.getByLabel(texts.auth.password, { exact: true }).fill(ana.password);
  await visitor.page.keyboard.press("Enter");
  const code = visitor.page.getByLabel(step.code);
  await code.fill(app.wrong());
  await expect(code).toHaveAccessibleDescription(new RegExp(texts.errors.mfa_verification_failed));
  await expectClean(visitor.page, "the second step, with a wrong code");
  await visitor.page.getByRole("button", { name: step.useRecovery }).click();
  await expectClean(visitor.page, "a recovery code as the second step");
  await visitor.page.getByRole("button", { name: step.lost }).click();
  await visitor.page.getByRole("button", { name: step.lostAsk }).click();
  await expect(visitor.page.getByRole("status").filter({ hasText: /\d\d:\d\d/ })).toBeVisible();
  await expectClean(visitor.page, "the wish for a reset");
  await visitor.close();
});
