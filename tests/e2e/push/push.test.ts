import type { Page } from "@playwright/test";
import { makeSecrets } from "#scripts/local/secrets.mjs";
import { findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { callControl, placeCall } from "#tests/support/browser/call-client.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, makePerson } from "#tests/support/people/people.ts";
import { expect, listNotifications, test } from "#tests/support/push/push-browser.ts";
import { messagePush, pushSwitch, turnOn } from "#tests/support/push/push-client.ts";

const quietMs = 2_000; // a push of the local service arrives in less than 100 ms
const reconnectTimeoutMs = 30_000; // the server was stopped for seconds
const pause = (page: Page) => page.waitForTimeout(quietMs);

// Playwright starts this file last: all its workers share it, so that none is idle at the end.
test.describe.configure({ mode: "parallel" });

test("the switch subscribes this device, a test notification arrives with the time it took, and a subscription that was lost or has a former key is renewed", async ({
  server,
  service,
  makePushBrowser,
}) => {
  const ana = await makePerson(toSite(server), 9_901, "Ana");
  const browser = makePushBrowser();
  const phone = await browser.open();
  const { page, texts } = phone;
  await turnOn(phone, ana);
  const testButton = page.getByRole("button", { name: texts.settings.push.test });
  await testButton.click();
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

  // A subscription that the push service lost is renewed by the test.
  service.failure = 410;
  await testButton.click();
  await expect(page.getByText(texts.settings.push.gone)).toBeVisible();
  service.failure = undefined;
  const before = service.received.length;
  await testButton.click();
  await expect.poll(() => service.received.length).toBe(before + 1);
  await expect(page.getByRole("status").filter({ hasText: arrived })).toBeVisible();
  const paths = () => browser.saved.map(({ endpoint }) => new URL(endpoint).pathname);
  expect(new Set(paths()).size).toBe(2);
  expect(service.received.at(-1)?.path).toBe(paths()[1]);

  // After the server's key for pushes has changed, the open app subscribes again, once.
  const saved = page.waitForResponse((response) => response.url().endsWith("/api/push/subscription"), {
    timeout: reconnectTimeoutMs,
  });
  await server.restart({ VAPID_PRIVATE_JWK: makeSecrets().VAPID_PRIVATE_JWK });
  await saved;
  expect(browser.saved[2]?.key).not.toBe(browser.saved[1]?.key);
  expect(new Set(paths()).size).toBe(3);
  await expect(pushSwitch(phone)).toBeChecked();
  const pushTest = () => callSite(toSite(server), "POST", "/api/push/test", { token: ana.token });
  const renewed = service.received.length;
  await expect.poll(async () => (await pushTest()).body).toEqual({ status: "sent" });
  expect(service.received.slice(renewed).map(({ path }) => path)).toEqual([paths()[2]]);
  expect(browser.saved).toHaveLength(3);

  // Turned off, the push service no longer knows the subscription.
  await pushSwitch(phone).click();
  await expect(pushSwitch(phone)).not.toBeChecked();
  await expect.poll(async () => (await pushTest()).status).toBe(404);
});

test("after the first message the app asks once and a later one does not ask again; after a call it asks too, and the question turns notifications on", async ({
  server,
  makePushBrowser,
}) => {
  const { people } = await makePair(toSite(server), 9_913);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
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

  // On a device that was never asked, a call is a reason as well.
  await page.evaluate(() => localStorage.removeItem("push-ask"));
  await page.reload();
  await placeCall(phone, ben);
  await callControl(phone, "hangUp").click();
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
  await phone.openRoute("/app/notifications");
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
