import type { Page } from "@playwright/test";
import { makeSecrets } from "#scripts/local/secrets.mjs";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { callControl, placeCall } from "#tests/support/browser/call-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson } from "#tests/support/people/people.ts";
import { expect, listNotifications, test } from "#tests/support/push/push-browser.ts";
import { findWorker, messagePush, pushSwitch, turnOn } from "#tests/support/push/push-client.ts";

const quietMs = 2_000; // a push of the local service arrives in less than 100 ms
const reconnectTimeoutMs = 30_000; // the server was stopped for seconds
const startTimeoutMs = 60_000; // the badge is set by code that waits until the app is idle
const pause = (page: Page) => page.waitForTimeout(quietMs);

// Playwright starts this file last: all its workers share it, so that none is idle at the end.
test.describe.configure({ mode: "parallel" });

test("the switch subscribes this device, and a test notification arrives with the time it took", async ({
  server,
  service,
  makePushBrowser,
}) => {
  const ana = await makePerson(toSite(server), 9_901, "Ana");
  const phone = await makePushBrowser().open();
  const { page, texts } = phone;
  await turnOn(phone, ana);
  await page.getByRole("button", { name: texts.settings.push.test }).click();
  const arrived = new RegExp(texts.settings.push.arrived.replace("{seconds}", "\\d+([,.]\\d)?"));
  await expect(page.getByRole("status").filter({ hasText: arrived })).toBeVisible();
  expect(await listNotifications(page)).toMatchObject([{ title: "Lisolo", tag: "test" }]);
  expect(service.received.at(-1)?.headers).toMatchObject({ "content-encoding": "aes128gcm", urgency: "high" });
  const { granted, arrivedAt } = texts.settings.pushStatus;
  await expect(page.getByText(granted, { exact: true })).toBeVisible();
  await expect(
    page.getByText(new RegExp(`${arrivedAt.replace("{time}", ".+").replace("{seconds}", "\\d+([,.]\\d)?")}`)),
  ).toBeVisible();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  // It stays on after a reload, without another request.
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.reload();
  await expect(pushSwitch(phone)).toBeChecked();
  await pause(page);
  expect(requests.filter((url) => url.includes("/api/push/"))).toEqual([]);
  // Turned off, the push service no longer knows the subscription.
  await pushSwitch(phone).click();
  await expect(pushSwitch(phone)).not.toBeChecked();
  const refused = () => callSite(toSite(server), "POST", "/api/push/test", { token: ana.token });
  await expect.poll(async () => (await refused()).status).toBe(404);
});

test("a subscription that the push service lost is renewed by the test", async ({
  server,
  makePushBrowser,
  service,
}) => {
  const ana = await makePerson(toSite(server), 9_902, "Ana");
  const browser = makePushBrowser();
  const phone = await browser.open();
  const { page, texts } = phone;
  await turnOn(phone, ana);
  service.failure = 410;
  await page.getByRole("button", { name: texts.settings.push.test }).click();
  await expect(page.getByText(texts.settings.push.gone)).toBeVisible();
  service.failure = undefined;
  await page.getByRole("button", { name: texts.settings.push.test }).click();
  await expect.poll(() => listNotifications(page)).toMatchObject([{ tag: "test" }]);
  expect(browser.saved).toHaveLength(2);
  expect(browser.saved[0]?.endpoint).not.toBe(browser.saved[1]?.endpoint);
});

test("after the server's key for pushes has changed, the open app subscribes again, once", async ({
  server,
  makePushBrowser,
  service,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_964);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  await turnOn(phone, ana);
  await server.restart({ VAPID_PRIVATE_JWK: makeSecrets().VAPID_PRIVATE_JWK });
  await expect.poll(() => browser.saved.length, { timeout: reconnectTimeoutMs }).toBe(2);
  const [former, renewed] = browser.saved;
  expect(renewed?.key).not.toBe(former?.key);
  expect(renewed?.endpoint).not.toBe(former?.endpoint);
  await expect(pushSwitch(phone)).toBeChecked();

  const bare = await browser.openBarePage();
  await phone.page.close();
  const before = service.received.length;
  await sendTexts(site, ben, conversation, ["Mbote"]);
  await expect.poll(() => listNotifications(bare)).toMatchObject([{ body: "Mbote" }]);
  expect(service.received.slice(before).map(({ path }) => path)).toEqual([new URL(renewed?.endpoint ?? "").pathname]);
});

test("the icon's number counts what notifications announce, and the app corrects it when it opens and when another device reads", async ({
  server,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_966);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  await turnOn(phone, ana);
  await phone.page.close();
  const fakeBadge =
    "Object.defineProperty(navigator, 'setAppBadge', { value: async (count) => { self.badge = count; } })";
  await findWorker(phone).evaluate(fakeBadge);
  await phone.context.addInitScript(fakeBadge);
  await sendTexts(site, ben, conversation, ["Mbote"]);
  await expect.poll(() => findWorker(phone).evaluate("self.badge")).toBe(1);
  const { data, ...push } = messagePush(ana, ben, "3 nouveaux messages");
  await browser.push({ ...push, data: { ...data, count: 3 } });
  await expect.poll(() => findWorker(phone).evaluate("self.badge")).toBe(3);

  const page = await phone.context.newPage();
  await page.goto(`${server.origin}/app`);
  await expect.poll(() => page.evaluate("self.badge"), { timeout: startTimeoutMs }).toBe(1);
  const read = { token: ana.token, body: { delivered: 1, read: 1 } };
  await callSite(site, "PUT", `/api/conversations/${conversation}/marks`, read);
  await expect.poll(() => page.evaluate("self.badge")).toBe(0);
});

test("after the first message the app asks once, and a later one does not ask again", async ({
  server,
  makePushBrowser,
}) => {
  const { people } = await makePair(toSite(server), 9_913);
  const [ana, ben] = people;
  const phone = await makePushBrowser().open();
  const { page, texts } = phone;
  const card = page.getByRole("region", { name: texts.push.ask });
  await phone.signInToChat(ana, ben.id);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await pause(page);
  await expect(card).toHaveCount(0);
  await phone.write("Mbote");
  await expect(card).toBeVisible();
  await expect(phone.composer()).toBeFocused();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  await card.getByRole("button", { name: texts.push.later }).click();
  await expect(card).toHaveCount(0);
  await page.reload();
  await phone.write("Sango nini?");
  await expect(phone.ticks("Sango nini?", "sent")).toBeVisible();
  await pause(page);
  await expect(card).toHaveCount(0);
});

test("after a call the app asks too, and the question turns notifications on", async ({ server, makePushBrowser }) => {
  const { people } = await makePair(toSite(server), 9_915);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  const { page, texts } = phone;
  await phone.signInToChat(ana, ben.id);
  await placeCall(phone, ben);
  await callControl(phone, "hangUp").click();
  const card = page.getByRole("region", { name: texts.push.ask });
  await card.getByRole("button", { name: texts.push.turnOn }).press("Enter");
  await expect(page.getByText(texts.push.isOn).first()).toBeVisible();
  await expect(card).toHaveCount(0);
  expect(browser.saved).toHaveLength(1);
  await browser.push(messagePush(ana, ben, "Mbote na yo"));
  await expect.poll(() => listNotifications(page)).toMatchObject([{ body: "Mbote na yo" }]);
});

test("the question and the settings explain what prevents notifications", async ({ server, makePushBrowser }) => {
  const { people } = await makePair(toSite(server), 9_917);
  const [ana, ben] = people;
  const phone = await makePushBrowser().open({ permission: false });
  const { page, texts } = phone;
  await page.addInitScript(() => {
    const permission = () => sessionStorage.getItem("permission") ?? "default";
    Object.defineProperty(Notification, "permission", { get: permission });
    Notification.requestPermission = async () => {
      sessionStorage.setItem("permission", "denied");
      return "denied";
    };
  });
  await phone.signInToChat(ana, ben.id);
  await phone.write("Mbote");
  const card = page.getByRole("region", { name: texts.push.ask });
  await card.getByRole("button", { name: texts.push.turnOn }).click();
  await expect(page.getByText(texts.push.denied)).toBeVisible();
  await expect(card).toHaveCount(0);
  await phone.goTo("/app/notifications");
  await expect(page.getByText(texts.settings.push.denied)).toBeVisible();
  await expect(pushSwitch(phone)).toHaveCount(0);
  await page.addInitScript(() => {
    Reflect.deleteProperty(window, "PushManager");
  });
  await page.reload();
  await expect(page.getByText(texts.settings.push.unsupported)).toBeVisible();
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "userAgent", { get: () => "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4)" });
  });
  await page.reload();
  await expect(page.getByText(texts.settings.push.needsHomeScreen)).toBeVisible();
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
});
