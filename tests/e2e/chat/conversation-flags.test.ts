import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

const listRows = ({ page, texts }: TestClient) =>
  page.getByRole("list", { name: texts.masolo.list, exact: true }).getByRole("listitem");

const choose = async (client: TestClient, name: string, item: string) => {
  await client.conversation(name).click({ button: "right" });
  await client.page.getByRole("menuitem", { name: item, exact: true }).click();
};

/** Moves a finger on a row of the list. */
const swipe = async (page: Page, client: TestClient, name: string, dx: number, dy = 0) => {
  const box = await client.conversation(name).boundingBox();
  if (!box) throw new Error(`${name} is not on screen`);
  const session = await page.context().newCDPSession(page);
  const start = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", part: number) =>
    session.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: type === "touchEnd" ? [] : [{ x: start.x + dx * part, y: start.y + dy * part }],
    });
  await Promise.all([
    touch("touchStart", 0),
    ...[0.2, 0.4, 0.6, 0.8, 1].map((part) => touch("touchMove", part)),
    touch("touchEnd", 1),
  ]);
  await session.detach();
};

test("conversations are pinned, marked as unread and archived by menu, keyboard and swipe, offline, and on both devices", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9471, "Ana Mbuyi");
  const [ben, cleo] = [await makePerson(site, 9472, "Ben"), await makePerson(site, 9473, "Cléo")];
  for (const one of [ben, cleo]) await connectPeople(site, ana, one);
  const [withBen, withCleo] = [privateConversationId(ana.id, ben.id), privateConversationId(ana.id, cleo.id)];
  const group = await makeGroup(site, ana, "Famille", [ben]);
  await sendTexts(site, ana, withBen, ["à Ben"]);
  await sendTexts(site, ana, withCleo, ["à Cléo"]);
  await sendTexts(site, ana, group, ["à tous"]);
  const phone = await TestClient.openIn(
    await browser.newContext({
      ...withServiceWorker,
      baseURL: server.origin,
      viewport: { width: 360, height: 740 },
      hasTouch: true,
    }),
    server,
  );
  const laptop = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  await phone.signIn(ana);
  await laptop.signIn(ana);
  const { page, texts } = phone;
  const { masolo } = texts;
  const filter = (name: string) => page.getByRole("radio", { name, exact: true });
  const undo = page.getByRole("button", { name: masolo.undo, exact: true });
  await expect(listRows(phone)).toHaveText([/Famille/, /Cléo/, /Ben/]);

  // A pinned conversation stands on top, on both devices; the filters are a radio group.
  await choose(phone, "Ben", masolo.pin);
  await expect(listRows(phone)).toHaveText([/Ben/, /Famille/, /Cléo/]);
  await expect(phone.conversation("Ben").getByRole("img", { name: masolo.pinned })).toBeVisible();
  await expect(listRows(laptop)).toHaveText([/Ben/, /Famille/, /Cléo/]);
  await filter(masolo.filter.all).focus();
  for (const rows of [[], [/Famille/]]) {
    await page.keyboard.press("ArrowRight");
    await expect(listRows(phone)).toHaveText(rows);
  }
  await expect(filter(masolo.filter.groups)).toBeFocused();
  expect(await findAxeViolations(page)).toEqual([]);
  await filter(masolo.filter.all).check({ force: true });

  // A swipe to the right marks as unread; opening ends it everywhere, without a receipt of its own.
  await expect(async () => {
    await swipe(page, phone, "Cléo", 100);
    await expect(phone.conversation("Cléo")).toContainText(masolo.marked, { timeout: 2_000 });
  }).toPass();
  await expect(laptop.conversation("Cléo")).toContainText(laptop.texts.masolo.marked);
  await expect(page.getByText(fill(texts.shell.unread_one, { count: "1" }))).toBeAttached();
  await filter(masolo.filter.unread).check({ force: true });
  await expect(listRows(phone)).toHaveText([/Cléo/]);
  await filter(masolo.filter.all).check({ force: true });
  await laptop.conversation("Cléo").click();
  await expect(laptop.composer()).toBeVisible();
  for (const client of [phone, laptop])
    await expect(listRows(client).filter({ hasText: "Cléo" })).not.toContainText(client.texts.masolo.marked);

  // A vertical movement scrolls; a swipe to the left archives, and the snackbar takes it back.
  await swipe(page, phone, "Cléo", -60, -120);
  await expect(undo).toHaveCount(0);
  await expect(async () => {
    if ((await listRows(phone).count()) === 3) await swipe(page, phone, "Cléo", -100);
    await expect(listRows(phone)).toHaveText([/Ben/, /Famille/], { timeout: 2_000 });
  }).toPass();
  await undo.click();
  await expect(listRows(phone)).toHaveText([/Ben/, /Famille/, /Cléo/]);

  // Archived offline, and after a reload: behind the row at the top, by its filter, and by the search.
  await waitForOfflineReady(page);
  await phone.context.setOffline(true);
  await choose(phone, "Cléo", masolo.archive);
  await expect(listRows(phone)).toHaveText([/Ben/, /Famille/]);
  await page.reload();
  await page.getByRole("button", { name: `${masolo.filter.archived} 1` }).click();
  await expect(filter(masolo.filter.archived)).toBeFocused();
  await expect(filter(masolo.filter.archived)).toBeInViewport({ ratio: 1 });
  await expect(listRows(phone)).toHaveText([/Cléo/]);
  await page.getByRole("searchbox").fill("clé");
  await expect(phone.conversation("Cléo").first()).toBeVisible(); // the search finds its message too
  await page.getByRole("searchbox").fill("");
  await phone.context.setOffline(false);
  await expect(listRows(laptop)).toHaveText([/Ben/, /Famille/]);

  // A message brings it back, below the pinned one.
  await sendTexts(site, cleo, withCleo, ["coucou"]);
  await expect(listRows(laptop)).toHaveText([/Ben/, /Cléo/, /Famille/]);
  await expect(listRows(phone)).toHaveCount(0);
  await expect(page.getByText(masolo.nothing.archived)).toBeVisible();
  await filter(masolo.filter.all).check({ force: true });
  await expect(listRows(phone)).toHaveText([/Ben/, /Cléo/, /Famille/]);

  // The same by the menus of the other device.
  const portuguese = laptop.texts.masolo;
  await choose(laptop, "Ben", portuguese.unpin);
  await expect(listRows(phone)).toHaveText([/Cléo/, /Famille/, /Ben/]);
  await choose(laptop, "Ben", portuguese.markUnread);
  await expect(phone.conversation("Ben")).toContainText(masolo.marked);
  await choose(laptop, "Famille", portuguese.archive);
  await expect(findToast(laptop.page).getByText(portuguese.flagged.archive)).toBeVisible();
  await laptop.page.getByRole("radio", { name: portuguese.filter.unread, exact: true }).check({ force: true });
  await expect(listRows(laptop)).toHaveText([/Ben/]);
  await expect(listRows(phone)).toHaveText([/Cléo/, /Ben/]);
  await page.getByRole("button", { name: `${masolo.filter.archived} 1` }).click();
  await choose(phone, "Famille", masolo.unarchive);
  await expect(findToast(page).getByText(masolo.flagged.unarchive)).toBeVisible();
  await expect(page.getByText(masolo.nothing.archived)).toBeVisible();
  await filter(masolo.filter.all).check({ force: true });
  await expect(listRows(phone)).toHaveText([/Cléo/, /Famille/, /Ben/]);
});

test("archiving and deleting by keyboard move the focus to the next conversation, and the mark of a muted one is visible", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9_885, "Ana Mbuyi");
  for (const [index, name] of ["Ben", "Cléo", "Didier"].entries()) {
    const other = await makePerson(site, 9_886 + index, name);
    await connectPeople(site, ana, other);
    await sendTexts(site, ana, privateConversationId(ana.id, other.id), [`à ${name}`]);
  }
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await expect(listRows(phone)).toHaveText([/Didier/, /Cléo/, /Ben/]);
  const link = (name: string) => listRows(phone).filter({ hasText: name }).getByRole("link");
  /** Opens the row's menu and chooses an item without a pointer. */
  const press = async (name: string, item: string) => {
    await page.getByRole("button", { name: fill(texts.masolo.rowActions, { name }) }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: item, exact: true }).focus();
    await page.keyboard.press("Enter");
  };
  await press("Didier", texts.masolo.archive);
  await expect(listRows(phone)).toHaveText([/Cléo/, /Ben/]);
  await expect(link("Cléo")).toBeFocused();
  await press("Ben", texts.masolo.delete);
  await page.getByRole("alertdialog").getByRole("button", { name: texts.common.delete }).focus();
  await page.keyboard.press("Enter");
  await expect(listRows(phone)).toHaveText([/Cléo/]);
  await expect(link("Cléo")).toBeFocused(); // after the last row, the one before it

  await press("Cléo", texts.mute.on);
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(link("Cléo").getByRole("img", { name: texts.mute.isOn })).toBeVisible();
  await press("Cléo", texts.masolo.markUnread);
  const badge = link("Cléo").getByText(texts.masolo.marked).locator("..");
  const muted = await link("Cléo")
    .locator("time")
    .evaluate((time) => getComputedStyle(time).color);
  await expect(badge).toHaveCSS("background-color", muted);
  await phone.close();
});
