import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { fill } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";
import { expect, listNotifications, test } from "#tests/support/push/push-browser.ts";
import { messagePush, pushSwitch, tapNotification, turnOn } from "#tests/support/push/push-client.ts";

const quietMs = 2_000; // a push of the local service arrives in less than 100 ms
const pause = (page: Page) => page.waitForTimeout(quietMs);

test("a notification arrives while the app is closed, one for each conversation", async ({
  server,
  makePushBrowser,
}) => {
  const { people } = await makePair(toSite(server), 9_903);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  await turnOn(phone, ana);
  const bare = await browser.openBarePage();
  await phone.page.close();
  const answer = await callSite(toSite(server), "POST", "/api/push/test", { token: ana.token });
  expect(answer).toMatchObject({ status: 202, body: { status: "sent" } });
  await expect.poll(() => listNotifications(bare)).toMatchObject([{ tag: "test" }]);

  expect(await browser.push(messagePush(ana, ben, "Mbote"))).toBe(201);
  expect(await browser.push(messagePush(ana, ben, "2 nouveaux messages", 2))).toBe(201);
  const tag = `c:${privateConversationId(ana.id, ben.id)}`;
  await expect
    .poll(async () => (await listNotifications(bare)).filter((shown) => shown.tag === tag))
    .toEqual([{ title: ben.username, body: "2 nouveaux messages", tag }]);

  // Unreadable content is announced too: a push without a notification costs the permission.
  await browser.push("not JSON");
  await expect.poll(() => listNotifications(bare)).toContainEqual(expect.objectContaining({ tag: "lisolo" }));
});

test("a message is announced while the app is closed, after the worker was stopped and the browser started again", async ({
  server,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_919);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  await turnOn(phone, ana);
  const devtools = await phone.context.newCDPSession(await browser.openBarePage());
  await phone.page.close();
  await devtools.send("ServiceWorker.enable");
  await devtools.send("ServiceWorker.stopAllWorkers");
  await sendTexts(site, ben, conversation, ["Mbote"]);
  const bare = await browser.openBarePage();
  const tag = `c:${conversation}`;
  await expect.poll(() => listNotifications(bare)).toEqual([{ title: ben.username, body: "Mbote", tag }]);

  await browser.quit();
  await browser.open();
  await sendTexts(site, ben, conversation, ["Sango nini?"]);
  const later = await browser.openBarePage();
  const body = `${fill(phone.texts.chat.newMessages_other, { count: 2 })}\nSango nini?`;
  await expect.poll(() => listNotifications(later)).toEqual([{ title: ben.username, body, tag }]);
});

test("a push for another account shows no content, and after a sign-out without a network none arrives or remains", async ({
  server,
  makePushBrowser,
}) => {
  const { people } = await makePair(toSite(server), 9_905);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  const { page, texts, context } = phone;
  await turnOn(phone, ana);
  await browser.push(messagePush(ben, ana, "Secret"));
  await expect.poll(() => listNotifications(page)).toHaveLength(1);
  expect(await listNotifications(page)).toEqual([{ title: "Lisolo", body: texts.notifier.newMessage, tag: "lisolo" }]);
  await browser.push(messagePush(ana, ben, "Avant"));
  await expect.poll(() => listNotifications(page)).toHaveLength(2);

  await phone.goTo("/app/profile");
  await context.route("**/api/auth/logout*", (route) => route.abort());
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await page.waitForURL((url) => url.pathname === "/");
  await browser.push(messagePush(ana, ben, "Après"));
  await pause(page);
  expect(await listNotifications(page)).toEqual([]);
  const subscription = await page.evaluate(async () =>
    (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription(),
  );
  expect(subscription).toBeNull();
});

test("the next person who signs in here receives nothing of the former one", async ({ server, makePushBrowser }) => {
  const { people } = await makePair(toSite(server), 9_909);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  await turnOn(phone, ana);
  await phone.signIn(ben, "/app/notifications");
  await expect(pushSwitch(phone)).not.toBeChecked();
  await pause(phone.page);
  await browser.push(messagePush(ana, ben, "Pour Ana"));
  await pause(phone.page);
  expect(await listNotifications(phone.page)).toEqual([]);
});

test("reading a conversation closes its notification, and a tap opens it in the open tab", async ({
  server,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_911);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  const { page } = phone;
  await turnOn(phone, ana);
  await phone.goTo("/app");
  await sendTexts(site, ben, conversation, ["Mbote"]);
  await expect(phone.conversation(ben.username)).toBeVisible();
  await browser.push(messagePush(ana, ben, "Mbote"));
  await expect.poll(() => listNotifications(page)).toHaveLength(1);
  await pause(page);
  expect(await listNotifications(page)).toHaveLength(1); // unread

  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  await tapNotification(phone, `c:${conversation}`);
  await expect(page).toHaveURL(`${server.origin}/app/chat/${ben.id}`);
  await expect(phone.message("Mbote")).toBeVisible();
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);

  await phone.goTo("/app");
  await sendTexts(site, ben, conversation, ["Sango nini?"]);
  await expect(phone.conversation(ben.username)).toContainText("Sango nini?");
  await browser.push(messagePush(ana, ben, "Sango nini?", 2));
  await expect.poll(() => listNotifications(page)).toHaveLength(1);
  await phone.conversation(ben.username).click();
  await expect(phone.message("Sango nini?")).toBeVisible();
  await expect.poll(() => listNotifications(page)).toEqual([]);
});
