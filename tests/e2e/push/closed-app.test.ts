import type { Page } from "@playwright/test";
import { fill } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";
import { expect, listNotifications, test } from "#tests/support/push/push-browser.ts";
import { findWorker, messagePush, pushSwitch, tapNotification, turnOn } from "#tests/support/push/push-client.ts";

const quietMs = 2_000; // a push of the local service arrives in less than 100 ms
const startTimeoutMs = 60_000; // the badge is set by code that waits until the app is idle
const pause = (page: Page) => page.waitForTimeout(quietMs);

test("messages are announced while the app is closed, in one notification for each conversation, after the worker was stopped and the browser started again, and the icon's number counts them", async ({
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
  const { context } = await browser.open();
  await sendTexts(site, ben, conversation, ["Sango nini?"]);
  const later = await browser.openBarePage();
  const body = `${fill(phone.texts.chat.newMessages_other, { count: 2 })}\nSango nini?`;
  await expect.poll(() => listNotifications(later)).toEqual([{ title: ben.username, body, tag }]);

  // The icon's number counts what notifications announce.
  const fakeBadge =
    "Object.defineProperty(navigator, 'setAppBadge', { value: async (count) => { self.badge = count; } })";
  const worker = findWorker({ context });
  await worker.evaluate(fakeBadge);
  await context.addInitScript(fakeBadge);
  await sendTexts(site, ben, conversation, ["Ozali wapi?"]);
  await expect.poll(() => worker.evaluate("self.badge")).toBe(3);
  const { data, ...push } = messagePush(ana, ben, "5 nouveaux messages", 5);
  expect(await browser.push({ ...push, data: { ...data, count: 5 } })).toBe(201);
  await expect.poll(() => worker.evaluate("self.badge")).toBe(5);
  const announced = { title: ben.username, body: "5 nouveaux messages", tag };
  await expect.poll(() => listNotifications(later)).toEqual([announced]);

  // Unreadable content is announced too: a push without a notification costs the permission.
  await browser.push("not JSON");
  await expect.poll(() => listNotifications(later)).toContainEqual(expect.objectContaining({ tag: "lisolo" }));
  const answer = await callSite(site, "POST", "/api/push/test", { token: ana.token });
  expect(answer).toMatchObject({ status: 202, body: { status: "sent" } });
  await expect.poll(() => listNotifications(later)).toContainEqual(expect.objectContaining({ tag: "test" }));
  expect(await listNotifications(later)).toContainEqual(announced);

  // The app corrects the number when it opens, and when another device reads.
  const page = await context.newPage();
  await page.goto(`${server.origin}/app`);
  await expect.poll(() => page.evaluate("self.badge"), { timeout: startTimeoutMs }).toBe(3);
  const read = { token: ana.token, body: { delivered: 3, read: 3 } };
  await callSite(site, "PUT", `/api/conversations/${conversation}/marks`, read);
  await expect.poll(() => page.evaluate("self.badge")).toBe(0);
});

test("reading a conversation closes its notification, and a tap opens it in the open tab; another account and a signed-out device receive no content", async ({
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
  await phone.openRoute("/app");
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

  await phone.openRoute("/app");
  await sendTexts(site, ben, conversation, ["Sango nini?"]);
  await expect(phone.conversation(ben.username)).toContainText("Sango nini?");
  await browser.push(messagePush(ana, ben, "Sango nini?", 2));
  await expect.poll(() => listNotifications(page)).toHaveLength(1);
  await phone.conversation(ben.username).click();
  await expect(phone.message("Sango nini?")).toBeVisible();
  await expect.poll(() => listNotifications(page)).toEqual([]);

  // The next person who signs in here receives nothing of the former one.
  await phone.signIn(ben, "/app/notifications");
  await expect(pushSwitch(phone)).not.toBeChecked();
  await pause(page);
  await browser.push(messagePush(ana, ben, "Pour Ana"));
  await pause(page);
  expect(await listNotifications(page)).toEqual([]);

  // A push for another account shows no content.
  await turnOn(phone, ben);
  await browser.push(messagePush(ana, ben, "Secret"));
  await expect.poll(() => listNotifications(page)).toHaveLength(1);
  const { texts, context } = phone;
  expect(await listNotifications(page)).toEqual([{ title: "Lisolo", body: texts.notifier.newMessage, tag: "lisolo" }]);
  await browser.push(messagePush(ben, ana, "Avant", 3));
  await expect.poll(() => listNotifications(page)).toHaveLength(2);

  // After a sign-out without a network none arrives or remains.
  await phone.openRoute("/app/profile");
  await context.route("**/api/auth/logout*", (route) => route.abort());
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await page.waitForURL((url) => url.pathname === "/");
  await browser.push(messagePush(ben, ana, "Après", 4));
  await pause(page);
  expect(await listNotifications(page)).toEqual([]);
  const subscription = await page.evaluate(async () =>
    (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription(),
  );
  expect(subscription).toBeNull();
});
