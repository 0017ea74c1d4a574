import type { Locator, Page } from "@playwright/test";
import { helpScreens } from "#features/help/help-screens.ts";
import questions from "#features/help/questions/fr.json" with { type: "json" };
import { type HelpTexts, listQuestions, splitInserts } from "#features/help/questions.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { makePerson } from "#tests/support/people/people.ts";
import { type SeededHistory, seedHistory } from "#tests/support/server/seeded-history.ts";

/**
 * Texts that the answers name and that are shown in situations which tests of their own produce: failed messages, calls
 * that nobody answers, notifications of the system, deleted accounts, lost numbers and second factors.
 */
const shownElsewhere = [
  "chat.status.failed",
  "chat.retry",
  "chat.discard",
  "chat.attach.original_one",
  "calls.status.outgoingAsleep",
  "calls.notice.peerAsleepRecord",
  "settings.push.label", // where the browser has push
  "notifier.reply",
  "notifier.markRead",
  "common.deletedAccount",
  "number.change", // where the operator lets people verify numbers
  "number.notice.hint",
  "auth.secondStep.lost",
];

const named = listQuestions(questions as HelpTexts).flatMap(({ question, answer }) => splitInserts(question + answer));
const keys = [...new Set(named.flatMap((piece) => ("key" in piece ? [piece.key] : [])))];
/** Texts of screens; the others are those of chats, their menus and the log-in page. */
const isOfScreen = (key: string): boolean =>
  /^(settings|security|profile|handle|invite|senga|tala|makutano|number|people|masolo)\./.test(key);

let people: SeededHistory;
test.beforeAll(async ({ server }) => {
  people = await seedHistory(toSite(server), 4320);
});

/** Texts on the page, also of buttons without words and of fields. */
const readTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const names = ["aria-label", "title", "placeholder"];
    return [...document.querySelectorAll("body *")].flatMap((element) => [
      ...[...element.childNodes].flatMap((node) => (node instanceof Text ? [node.data] : [])),
      ...names.map((name) => element.getAttribute(name) ?? ""),
    ]);
  });

/** Follows what a person sees, and compares it with what the help names. */
class Visit {
  readonly phone: TestClient;
  readonly #seen = new Set<string>();

  constructor(phone: TestClient) {
    this.phone = phone;
  }

  textOf(key: string): string {
    return key.split(".").reduce<unknown>((node, part) => Object(node)[part], this.phone.texts) as string;
  }

  async look(page = this.phone.page): Promise<void> {
    for (const text of await readTexts(page))
      this.#seen.add(
        text
          .trim()
          .replace(/^@/, "")
          .replace(/ \(\d+\)$/, ""),
      );
  }

  button(name: string): Locator {
    return this.phone.page.getByRole("button", { name, exact: true });
  }

  async lookAtMenu(): Promise<void> {
    await expect(this.phone.page.getByRole("menu")).toBeVisible();
    await this.look();
  }

  choose(name: string): Promise<void> {
    return this.phone.page.getByRole("menuitem", { name, exact: true }).click();
  }

  close(): Promise<void> {
    return this.phone.page.keyboard.press("Escape");
  }

  /** Named texts that were not seen. */
  findMissing(isExpected: (key: string) => boolean): string[] {
    return keys.filter((key) => isExpected(key) && !shownElsewhere.includes(key) && !this.#seen.has(this.textOf(key)));
  }
}

test("every screen that the help names opens from it, with the settings named", async ({ browser, server }) => {
  const stranger = await makePerson(toSite(server), 4325);
  const visit = new Visit(await TestClient.open(browser, server));
  const { page, texts } = visit.phone;
  await visit.phone.signIn(people.ana, "/app/help");
  for (const { path, title } of Object.values(helpScreens)) {
    await visit.phone.openRoute("/app/help");
    const link = page.getByRole("main").locator(`details a[href="${path}"]`).first();
    await expect(async () => {
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
      });
      await expect(link).toBeVisible({ timeout: 1_000 });
    }).toPass(); // the answers may be rendered again after they have appeared
    await link.click();
    await expect(page.getByRole("heading", { level: 1, name: visit.textOf(title) })).toBeVisible();
    await expect(page).toHaveURL(path);
    // What appears once its owner has turned on or made something.
    const { notifications } = texts.settings;
    if (path === "/app/notifications") {
      await page.getByText(notifications.quiet.on).click();
      await expect(page.getByText(notifications.quiet.calls)).toBeVisible();
    }
    if (path === "/app/handle") await visit.button(texts.handle.link.create).click();
    if (path === "/app/senga/invite") await visit.button(texts.invite.create).click();
    if (path === "/app/profile") await visit.button(texts.profile.editName).click();
    if (path === "/app/tala") await visit.button(texts.tala.write).click();
    if (path === "/app/senga") {
      await expect(page.getByText(texts.senga.accept, { exact: true })).toBeVisible();
      await visit.look();
      await page.getByRole("searchbox").fill(stranger.phone.slice(1));
    }
    if (path === "/app") {
      await visit.button(texts.masolo.actions).click();
      await visit.lookAtMenu();
      await visit.close();
      const row = visit.phone.conversation("Famille");
      await row.click({ button: "right" });
      await visit.choose(texts.masolo.markRead);
      await row.click({ button: "right" });
      await expect(page.getByRole("menuitem", { name: texts.masolo.markUnread })).toBeVisible();
      await visit.lookAtMenu();
      await visit.choose(texts.masolo.archive);
    }
    const isOfThisScreen = (key: string) => isOfScreen(key) && key.startsWith(title.replace(/title$/, ""));
    const listMissing = () => visit.look().then(() => visit.findMissing(isOfThisScreen));
    await expect.poll(listMissing, path).toEqual([]);
  }
  // Words of one screen may be on another.
  expect(visit.findMissing(isOfScreen)).toEqual([]);
  expect(shownElsewhere.filter((key) => !keys.includes(key))).toEqual([]);
  await visit.phone.close();
});

test("every button that the help names is in the menus of a chat or on the log-in page", async ({
  browser,
  server,
}) => {
  const { ana, ben, group } = people;
  const visit = new Visit(await TestClient.open(browser, server));
  const { phone } = visit;
  const { page, texts } = phone;
  const openMenuOf = (text: string) => phone.message(text).click({ button: "right" });
  await phone.signInToChat(ana, ben.id);
  await phone.write("À corriger");
  await expect(phone.ticks("À corriger", "sent")).toBeVisible();
  await visit.look();
  await visit.button(texts.common.more).click();
  await visit.lookAtMenu();
  await visit.close();
  await visit.button(texts.chat.attach.menu).click();
  await visit.lookAtMenu();
  await visit.close();
  await openMenuOf("À corriger");
  await visit.lookAtMenu();
  await visit.choose(texts.messages.edit);
  await page.getByRole("textbox", { name: texts.chat.editTitle }).fill("Corrigé");
  await page.keyboard.press("Enter");
  await expect(phone.message("Corrigé")).toContainText(texts.messages.edited);
  await visit.look();
  await openMenuOf("Corrigé");
  await page.getByRole("menu").getByText("👍").click();
  await expect(page.getByRole("button", { name: /👍/ })).toBeVisible();
  await openMenuOf("Corrigé");
  await visit.lookAtMenu();
  await visit.choose(texts.common.delete);
  await expect(page.getByRole("alertdialog")).toBeVisible();
  await visit.look();
  await visit.close();

  // A group, which she owns and has muted.
  await phone.openRoute(`/app/group/${group}`);
  await openMenuOf("Bonsoir la famille");
  await expect(page.getByRole("menuitem", { name: texts.messages.replyPrivately })).toBeVisible();
  await visit.lookAtMenu();
  await visit.close();
  await openMenuOf("Bonsoir");
  await visit.lookAtMenu();
  await visit.close();
  await phone.composer().fill("@");
  await expect(page.getByText(texts.chat.mention.everyoneHint)).toBeVisible();
  await visit.look();
  await phone.composer().fill("");
  await visit.button(texts.common.more).click();
  await visit.choose(texts.mute.change);
  await expect(page.getByText(texts.mute.keepMentions)).toBeVisible();
  await visit.look();
  await phone.openRoute(`/app/group/${group}/members`);
  await expect(visit.button(texts.groups.leave.short)).toBeVisible();
  await visit.look();
  await visit.button(texts.groups.page.menu).click();
  await visit.lookAtMenu();
  await visit.close();
  await visit.button(fill(texts.groups.page.memberMenu, { name: ben.username })).click();
  await visit.lookAtMenu();

  const visitor = await TestClient.open(browser, server);
  await visitor.goTo("/login");
  await expect(visitor.page.getByRole("button", { name: texts.auth.withPasskey })).toBeVisible();
  await visit.look(visitor.page);
  await visitor.close();
  expect(visit.findMissing((key) => !isOfScreen(key))).toEqual([]);
  await phone.close();
});
