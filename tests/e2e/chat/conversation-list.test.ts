import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

test("the list updates live: newest first, with unread counts and ticks, and on a wide screen the open chat is marked", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [await makePerson(site, 600), await makePerson(site, 601), await makePerson(site, 602)];
  await connectPeople(site, ana, ben);
  await connectPeople(site, ana, cleo);
  const anas = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts } = anas;
  await anas.signIn(ana);
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible();

  const withBen = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ben, withBen, ["un", "deux\ntrois"]);
  await sendTexts(site, cleo, privateConversationId(ana.id, cleo.id), ["Salut"]);
  const list = page.getByRole("list", { name: texts.masolo.list });
  const names = list
    .getByRole("link")
    .locator("bdi:first-child")
    .filter({ hasText: /^Personne/ });
  await expect(names).toHaveText([cleo.username, ben.username]);
  await expect(anas.conversation(ben.username)).toContainText(fill(texts.masolo.unread_other, { count: 2 }));
  await expect(anas.conversation(cleo.username)).toContainText(fill(texts.masolo.unread_one, { count: 1 }));
  await expect(anas.conversation(ben.username).locator("time")).toHaveText(/^\d\d:\d\d$/);

  await anas.conversation(ben.username).click();
  await anas.write("bien reçu");
  await expect(anas.ticks("bien reçu", "sent")).toBeVisible();
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(names).toHaveText([ben.username, cleo.username]);
  const row = anas.conversation(ben.username);
  await expect(row).toContainText(`${texts.masolo.own} bien reçu`);
  await expect(row.getByRole("img", { name: texts.chat.status.sent })).toBeVisible();
  await expect(row).not.toContainText(fill(texts.masolo.unread_other, { count: 2 }));

  // A message sent offline appears in the list at once, with the pending icon.
  await waitForOfflineReady(page);
  await anas.context.setOffline(true);
  await anas.conversation(cleo.username).click();
  await anas.write("dès que possible");
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(names).toHaveText([cleo.username, ben.username]);
  await expect(anas.conversation(cleo.username).getByRole("img", { name: texts.chat.status.sending })).toBeVisible();
  await anas.context.setOffline(false);
  await expect(anas.conversation(cleo.username).getByRole("img", { name: texts.chat.status.sent })).toBeVisible();

  // On a wide screen the open chat is marked in the list beside it.
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const text of ["bien reçu", "dès que possible"]) {
    const opened = list.getByRole("link").filter({ hasText: text });
    await opened.click();
    await expect(anas.message(text)).toBeVisible();
    await expect(list.locator('[aria-current="page"]')).toHaveCount(1);
    await expect(opened).toHaveAttribute("aria-current", "page");
  }
  await anas.close();
});

test("a deleted conversation leaves my view only, and comes back with what is new; groups beside it are read completely", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 604), await makePerson(site, 605)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ben, conversation, ["ancien 1", "ancien 2"]);
  const anas = await TestClient.open(browser, server, "pt");
  const { page, texts } = anas;
  const failures: string[] = [];
  page.on("console", (message) => {
    if (message.text().includes("reading the local database failed")) failures.push(message.text());
  });
  await anas.signIn(ana);
  const row = anas.conversation(ben.username);
  const remove = page.getByRole("button", { name: fill(texts.masolo.deleteNamed, { name: ben.username }) });
  const dialog = page.getByRole("alertdialog");

  await row.hover();
  await remove.click();
  await expect(dialog).toContainText(ben.username);
  await dialog.getByRole("button", { name: texts.common.cancel }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row).toBeVisible();

  // It needs the server's confirmation: without a network it stays and says why.
  await anas.context.setOffline(true);
  await remove.focus();
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: texts.common.delete }).click();
  await expect(page.getByRole("alert").getByText(texts.errors.offline)).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await expect(row).toBeVisible();
  await anas.context.setOffline(false);
  await expect(page.getByText(texts.errors.offline)).toHaveCount(0);

  await row.hover();
  await remove.click();
  await dialog.getByRole("button", { name: texts.common.delete }).click();
  await expect(page.getByText(texts.masolo.conversationDeleted)).toBeVisible();
  await expect(row).toHaveCount(0);
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible();

  await sendTexts(site, ben, conversation, ["tout neuf"]);
  await expect(row).toContainText("tout neuf");
  await row.click();
  await expect(anas.message("tout neuf")).toBeVisible();
  await expect(page.getByRole("main").locator("ol li p > bdi")).toHaveText(["tout neuf"]);

  expect(await readServerTexts(site, ben, conversation)).toEqual(["ancien 1", "ancien 2", "tout neuf"]);

  // The members of several groups are read completely, after a reload too, and keep updating live.
  const groups = ["Famille", "Marché", "Chorale"];
  for (const name of groups) await makeGroup(site, ben, name, [ana]);
  await page.getByRole("link", { name: texts.common.back }).click();
  for (let time = 1; time <= 3; time++) {
    for (const name of groups) await expect(anas.conversation(name)).toBeVisible();
    await sendTexts(site, ben, conversation, [`nouvelle ${time}`]);
    await expect(row).toContainText(`nouvelle ${time}`);
    if (time < 3) await page.reload();
  }
  expect(failures).toEqual([]);
  await anas.close();
});

test("on a touch screen a row's menu deletes, and the new button starts a chat", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 606), await makePerson(site, 607)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["Bonjour"]);
  const context = await browser.newContext({ baseURL: server.origin, hasTouch: true, isMobile: true });
  const anas = await TestClient.openIn(context, server, "en");
  const { page, texts } = anas;
  await anas.signIn(ana);

  await page.getByRole("button", { name: texts.masolo.actions, exact: true }).tap();
  await page.getByRole("menuitem", { name: texts.masolo.newChat }).tap();
  await page.getByRole("dialog").getByRole("button", { name: ben.username }).tap();
  await page.waitForURL(`**/app/chat/${ben.id}`);
  await page.goBack();

  await page.getByRole("button", { name: fill(texts.masolo.rowActions, { name: ben.username }) }).tap();
  await page.getByRole("menuitem", { name: texts.masolo.delete }).tap();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.common.delete }).tap();
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible();
  await anas.close();
});

/** Delays in milliseconds with which elements of the page began to appear. */
const readEntrances = (page: Page): Promise<number[]> =>
  page.evaluate(() => Reflect.get(window, "entrances") as number[]);

test("after a sign-in the conversations appear 50 ms after one another, and at once afterwards", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ...friends] = await makeFriends(site, 4350, 4);
  if (!ana) throw new Error("nobody was made");
  for (const friend of friends) await sendTexts(site, friend, privateConversationId(ana.id, friend.id), ["Mbote"]);
  for (const reducedMotion of ["no-preference", "reduce"] as const) {
    const context = await browser.newContext({ baseURL: server.origin, reducedMotion });
    const phone = await TestClient.openIn(context, server);
    const { page, texts } = phone;
    await page.addInitScript(() => {
      const entrances: number[] = [];
      Reflect.set(window, "entrances", entrances);
      const { animate } = Element.prototype;
      Element.prototype.animate = function (frames, options) {
        if (typeof options === "object") entrances.push(options.delay ?? 0);
        return animate.call(this, frames, options);
      };
    });
    await phone.logIn(ana.phone.slice(1));
    const rows = page.getByRole("list", { name: texts.masolo.list }).getByRole("listitem");
    await expect(rows).toHaveCount(3);
    await waitForTakeover(page);
    expect(await readEntrances(page)).toEqual(reducedMotion === "reduce" ? [] : [0, 50, 100]);
    await page.reload();
    await expect(rows).toHaveCount(3);
    expect(await readEntrances(page)).toEqual([]);
    await phone.close();
  }
});
