import type { CDPSession, Page } from "@playwright/test";
import type { ConversationId } from "#contract/ids.ts";
import { outboxSyncTag } from "#lib/browser/push/background-sync.ts";
import { toUnsentName } from "#lib/unsent/unsent-database.ts";
import type { TestClient } from "#tests/support/browser/test-client.ts";
import { readUnsentRows } from "#tests/support/browser/unsent-rows.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person, type Site } from "#tests/support/people/people.ts";
import { expect, listNotifications, type PushBrowser, test } from "#tests/support/push/push-browser.ts";
import { findWorker, messagePush, tapNotification, turnOn } from "#tests/support/push/push-client.ts";
import { readServerLog, readUnread } from "#tests/support/server/logs.ts";
import { accessCookie } from "#worker/lib/http/cookies.ts";

const sendingPath = /\/api\/conversations\/[^/]+\/messages$/;

const readTexts = async (site: Site, person: Person, conversation: ConversationId): Promise<string[]> =>
  (await readServerLog(site, person, conversation)).map(({ text }) => text);

/** Whether this device has messages or read positions that the server is not known to have. */
const hasUnsent = async (page: Page): Promise<boolean> =>
  (await readUnsentRows(page, "reads")).length > 0 ||
  (await readUnsentRows(page, "outbox")).some(({ sent }) => sent === undefined);

const answerMs = 5_000; // DevTools answers in less than 100 ms, or never while it stops the worker
const triesMax = 3;

/** Repeats a command of DevTools that is not answered. */
const sendRepeatedly = async (send: () => Promise<unknown>): Promise<void> => {
  for (let tries = 0; tries < triesMax; tries++) {
    const answer = send().then(
      () => true,
      () => false,
    );
    if (await Promise.race([answer, new Promise<boolean>((resolve) => setTimeout(resolve, answerMs, false))])) return;
  }
  throw new Error("DevTools does not answer");
};

/** Sends the service worker the event of the browser's Background Sync. Headless Chromium sends none by itself. */
const dispatchSync = (devtools: CDPSession, registrationId: string, origin: string): Promise<void> => {
  const event = { origin, registrationId, tag: outboxSyncTag };
  return sendRepeatedly(() => devtools.send("ServiceWorker.dispatchSyncEvent", { ...event, lastChance: false }));
};

/** As `dispatchSync`, the event of Periodic Background Sync. */
const dispatchPeriodicSync = (devtools: CDPSession, registrationId: string, origin: string): Promise<void> => {
  const event = { origin, registrationId, tag: outboxSyncTag };
  return sendRepeatedly(() => devtools.send("ServiceWorker.dispatchPeriodicSyncEvent", event));
};

/** Client with notifications on, whose app is closed and shows one of a message of the other person. */
const openWithNotification = async (browser: PushBrowser, site: Site, origin: string, number: number) => {
  const { people, conversation } = await makePair(site, number);
  const [ana, ben] = people;
  const phone = await browser.open();
  await turnOn(phone, ana);
  const bare = await browser.openBarePage();
  const devtools = await phone.context.newCDPSession(bare);
  let registration = "";
  devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    registration = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin))?.registrationId ?? registration;
  });
  await devtools.send("ServiceWorker.enable");
  await phone.page.close();
  await sendTexts(site, ben, conversation, ["Mbote"]);
  const tag = `c:${conversation}`;
  await expect.poll(() => listNotifications(bare)).toContainEqual({ title: ben.username, body: "Mbote", tag });
  return {
    ana,
    ben,
    conversation,
    phone,
    bare,
    tag,
    stopWorkers: () => devtools.send("ServiceWorker.stopAllWorkers"),
    sync: () => dispatchSync(devtools, registration, origin),
    syncPeriodically: () => dispatchPeriodicSync(devtools, registration, origin),
  };
};

const waitingBody = ({ texts }: TestClient, text: string): string => `${texts.notifier.replyWaiting}\n${text}`;

test("a reply in a notification is sent and marks the chat as read, as its other button does, also later without a network; the service worker saves a replaced subscription", async ({
  server,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const browser = makePushBrowser();
  const client = await openWithNotification(browser, site, server.origin, 9_921);
  const { ana, ben, conversation, phone, bare, tag, syncPeriodically } = client;
  expect(await readUnread(site, ana, conversation)).toBe(1);
  // The app was closed for long: its access token has expired.
  await phone.context.clearCookies({ name: accessCookie });
  await tapNotification(phone, tag, "reply", "  Mbote na yo!  ");
  await expect.poll(() => readTexts(site, ben, conversation)).toEqual(["Mbote", "Mbote na yo!"]);
  await expect.poll(() => listNotifications(bare)).toEqual([]);
  expect(await readUnread(site, ana, conversation)).toBe(0);
  await expect.poll(() => hasUnsent(bare)).toBe(false);

  await sendTexts(site, ben, conversation, ["Sango nini?"]);
  await expect.poll(() => listNotifications(bare)).toHaveLength(1);
  expect(await readUnread(site, ana, conversation)).toBe(1);
  await tapNotification(phone, tag, "read");
  await expect.poll(() => readUnread(site, ana, conversation)).toBe(0);
  expect(await listNotifications(bare)).toEqual([]);

  // The server's own push, which comes up to five seconds later: after another one, it would show the message again.
  await sendTexts(site, ben, conversation, ["Mbote lisusu"]);
  await expect.poll(() => listNotifications(bare)).toHaveLength(1);
  await phone.context.route("**/marks", (route) => route.abort());
  await tapNotification(phone, tag, "read");
  await expect.poll(() => hasUnsent(bare)).toBe(true);
  await expect.poll(() => listNotifications(bare)).toEqual([]);
  expect(await readUnread(site, ana, conversation)).toBe(1);
  await phone.context.unroute("**/marks");
  await syncPeriodically(); // once Background Sync has given up
  await expect.poll(() => readUnread(site, ana, conversation)).toBe(0);
  await expect.poll(() => hasUnsent(bare)).toBe(false);

  // A subscription that the browser replaced is saved by the service worker.
  await bare.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
  });
  await findWorker(phone).evaluate(`void self.dispatchEvent(new ExtendableEvent("pushsubscriptionchange"))`);
  await expect.poll(() => browser.saved.length).toBe(2);
  expect(browser.saved[0]?.endpoint).not.toBe(browser.saved[1]?.endpoint);
  await expect
    .poll(async () => (await callSite(site, "POST", "/api/push/test", { token: ana.token })).body)
    .toEqual({ status: "sent" });
  await expect.poll(() => listNotifications(bare)).toContainEqual(expect.objectContaining({ tag: "test" }));
});

test("a reply is sent once although the worker was stopped before or after the server had it; without a network the app sends it, and the service worker what the app left unsent", async ({
  server,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const browser = makePushBrowser();
  const client = await openWithNotification(browser, site, server.origin, 9_923);
  const { ana, ben, conversation, phone, bare, tag, stopWorkers, sync } = client;
  let posted = 0;
  // Stays for the whole test: Playwright may wait for ever when a route is removed while a worker stops.
  let fault: "request lost" | "answer lost" | "no network" | undefined = "request lost";
  await phone.context.route(sendingPath, async (route) => {
    if (fault === "no network") return route.abort();
    if (fault === "answer lost") await route.fetch();
    if (fault) posted++;
    else await route.continue();
  });
  await tapNotification(phone, tag, "reply", "avant");
  await expect.poll(() => posted).toBe(1);
  expect(await listNotifications(bare)).toEqual([{ title: ben.username, body: waitingBody(phone, "avant"), tag }]);
  await stopWorkers();
  fault = undefined;
  expect(await readTexts(site, ben, conversation)).toEqual(["Mbote"]);
  await sync();
  await expect.poll(() => readTexts(site, ben, conversation)).toEqual(["Mbote", "avant"]);
  await expect.poll(() => listNotifications(bare)).toEqual([]);

  // The server has it, but its answer never arrives.
  await sendTexts(site, ben, conversation, ["Sango nini?"]);
  await browser.push(messagePush(ana, ben, "Sango nini?", 3));
  await expect.poll(() => listNotifications(bare)).toContainEqual(expect.objectContaining({ body: "Sango nini?" }));
  fault = "answer lost";
  await tapNotification(phone, tag, "reply", "après");
  await expect.poll(() => posted).toBe(2);
  await stopWorkers();
  fault = undefined;
  const answered = await phone.context.newPage();
  await answered.goto(`${server.origin}/app/chat/${ben.id}`);
  await expect(phone.message("après", answered)).toHaveCount(1);
  await expect(phone.ticks("après", "sent", answered)).toBeVisible();
  await expect.poll(() => readUnsentRows(answered, "outbox")).toEqual([]);
  const sentBefore = ["Mbote", "avant", "Sango nini?", "après"];
  expect(await readTexts(site, ben, conversation)).toEqual(sentBefore);
  await answered.close();

  // Without a network the reply waits until the app is opened.
  await sendTexts(site, ben, conversation, ["Lobi?"]);
  await expect.poll(() => listNotifications(bare)).toContainEqual(expect.objectContaining({ body: "Lobi?" }));
  fault = "no network";
  await tapNotification(phone, tag, "reply", "plus tard");
  const waiting = { title: ben.username, body: waitingBody(phone, "plus tard"), tag };
  await expect.poll(() => listNotifications(bare)).toEqual([waiting]);
  fault = undefined;
  const page = await phone.context.newPage();
  await page.addInitScript(() => {
    // Tags of sync events that the browser has accepted.
    const accepted: string[] = [];
    const { prototype } = Reflect.get(window, "SyncManager") as { prototype: Record<string, unknown> };
    const register = prototype["register"] as (tag: string) => Promise<void>;
    prototype["register"] = async function (this: unknown, tag: string) {
      await register.call(this, tag);
      accepted.push(tag);
    };
    Object.assign(window, { accepted });
  });
  await page.goto(`${server.origin}/app`);
  const withReply = [...sentBefore, "Lobi?", "plus tard"];
  await expect.poll(() => readTexts(site, ben, conversation)).toEqual(withReply);
  await expect.poll(() => listNotifications(page)).toEqual([]);
  await expect.poll(() => readUnsentRows(page, "outbox")).toEqual([]);

  // Messages that the app left unsent are sent by the service worker.
  await phone.conversation(ben.username, page).click();
  for (const text of ["Lobi?", "plus tard"]) await expect(phone.message(text, page)).toBeVisible();
  await page.evaluate(() => (Reflect.get(window, "accepted") as string[]).splice(0));
  await phone.context.setOffline(true);
  await phone.write("un", page);
  await phone.write("deux", page);
  await expect(phone.ticks("deux", "sending", page)).toBeVisible();
  await expect.poll(() => page.evaluate(() => Reflect.get(window, "accepted"))).toContain(outboxSyncTag);
  await page.close();
  await phone.context.setOffline(false);
  await sync();
  const all = [...withReply, "un", "deux"];
  await expect.poll(() => readTexts(site, ben, conversation)).toEqual(all);
  // What the worker sent is known without a network.
  await phone.context.route("**/api/**", (route) => route.abort());
  const later = await phone.context.newPage();
  await later.goto(`${server.origin}/app/chat/${ben.id}`);
  await expect(phone.ticks("deux", "sent", later)).toBeVisible();
  await phone.context.unroute("**/api/**");
  await later.reload();
  await expect(phone.message("un", later)).toHaveCount(1);
  await expect(phone.ticks("un", "sent", later)).toBeVisible();
  expect(await readTexts(site, ben, conversation)).toEqual(all);
});

test("a reply in a notification of another account is neither stored nor sent, and where one has no input field its button opens the chat with the focus in the message field", async ({
  server,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_929);
  const [ana, ben] = people;
  const browser = makePushBrowser();
  const phone = await browser.open();
  // Without a mouse, a chat does not open an on-screen keyboard by itself, also after a load of the page.
  await phone.page.addInitScript(() => {
    const { matchMedia } = window;
    window.matchMedia = (query) => matchMedia.call(window, query.includes("hover") ? "not all" : query);
  });
  await turnOn(phone, ana);
  const { title, options } = {
    title: "Ana",
    options: { tag: "foreign", data: { path: "/app", conversation, user: ben.id, count: 1, head: 1 } },
  };
  // Chromium drops a notification that the page lists in the moment in which it is shown.
  await expect(async () => {
    await findWorker(phone).evaluate(
      `registration.showNotification(${JSON.stringify(title)}, ${JSON.stringify(options)})`,
    );
    expect(await listNotifications(phone.page)).toHaveLength(1);
  }).toPass();
  await tapNotification(phone, "foreign", "reply", "secret");
  await expect.poll(() => listNotifications(phone.page)).toEqual([]);
  await phone.page.waitForTimeout(1_000);
  expect(await hasUnsent(phone.page)).toBe(false);
  const names = await phone.page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  expect(names).not.toContain(toUnsentName(ben.id));
  expect(await readTexts(site, ben, conversation)).toEqual([]);

  // Without an input field.
  await phone.openRoute("/app");
  await sendTexts(site, ben, conversation, ["Mbote"]); // the open app closes notifications of what is read
  await expect(phone.conversation(ben.username)).toContainText("Mbote");
  await browser.push(messagePush(ana, ben, "Mbote"));
  await expect.poll(() => listNotifications(phone.page)).toHaveLength(1);
  await tapNotification(phone, `c:${conversation}`, "reply");
  await expect(phone.page).toHaveURL((url) => url.pathname === `/app/chat/${ben.id}`);
  await expect(phone.composer()).toBeFocused();
  await phone.page.reload(); // as when the button had to open the app
  await expect(phone.composer()).toBeFocused();
});
