import type { Browser, Page } from "@playwright/test";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { callRingMs } from "#contract/limits/calls.ts";
import { type PushPayload, toCallTag, toConversationTag } from "#contract/push.ts";
import { notificationLockName } from "#lib/browser/push/notification-lock.ts";
import {
  callButton,
  callControl,
  callEntry,
  callScreen,
  callTimeoutMs,
  pauseBetweenTaps,
} from "#tests/support/browser/call-client.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { setVisibility } from "#tests/support/browser/visibility.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { type Person, signInAgain } from "#tests/support/people/people.ts";
import { expect, listNotifications, type PushBrowser, test } from "#tests/support/push/push-browser.ts";
import { tapNotification, turnOn } from "#tests/support/push/push-client.ts";
import type { Server } from "#tests/support/server/server.ts";

/** Calls between real browsers of which the callee's app is closed. */

test.use({ actionTimeout: callTimeoutMs });
const patient = expect.configure({ timeout: callTimeoutMs });

const incoming = "Appel audio entrant";
const missed = "Appel audio manqué";

type Shown = { body: string; silent: boolean | null; requireInteraction: boolean; actions: string[] };

/** What a notification with a tag looks like, as far as browsers tell. */
const readNotification = (page: Page, tag: string): Promise<Shown | undefined> =>
  page.evaluate(
    ([tag, lock]) =>
      navigator.locks.request(lock, async () => {
        const registration = await navigator.serviceWorker.getRegistration();
        const [shown] = (await registration?.getNotifications({ tag })) ?? [];
        if (!shown) return undefined;
        const { body, silent, requireInteraction } = shown;
        const actions = (shown as unknown as { actions: { action: string }[] }).actions.map(({ action }) => action);
        return { body, silent, requireInteraction, actions };
      }),
    [tag, notificationLockName] as const,
  );

/** Push of a ringing call, as the server writes it in French. */
const callPush = (to: Person, from: Person, sentAt: number): PushPayload => {
  const conversation = privateConversationId(to.id, from.id);
  return {
    web_push: 8030,
    notification: {
      title: from.username,
      body: incoming,
      navigate: `https://lisolo.example/app/chat/${from.id}`,
      tag: toCallTag(conversation),
      lang: "fr",
      dir: "auto",
    },
    mutable: true,
    data: {
      kind: "call",
      user: to.id,
      conversation,
      call: createUuid(),
      count: 0,
      sentAt,
      expiresAt: sentAt + callRingMs,
      missedText: missed,
      endedText: "Appel terminé",
      isAlerting: true,
    },
  };
};

/** Ana, and Ben whose phone is subscribed and whose app is closed. `bare`: a page that only looks. */
const openSleepingPhone = async (server: Server, makePushBrowser: () => PushBrowser, firstNumber: number) => {
  const { people, conversation } = await makePair(toSite(server), firstNumber);
  const [ana, ben] = people;
  const push = makePushBrowser();
  const phone = await push.open();
  await turnOn(phone, ben);
  const bare = await push.openBarePage();
  await phone.page.close();
  const [ring, messages] = [toCallTag(conversation), toConversationTag(conversation)];
  return { ana, ben, phone, bare, ring, messages };
};

/** Client in the chat with somebody, in the browser of the test: starting one of its own takes seconds. */
const openCaller = async (browser: Browser, server: Server, caller: Person, callee: Person): Promise<TestClient> => {
  const client = await TestClient.open(browser, server);
  await client.signInToChat(caller, callee.id);
  return client;
};

test("a call rings on a phone whose app is closed until it is declined there or answered elsewhere, and calls that nobody answers are counted in one notification", async ({
  browser,
  server,
  service,
  makePushBrowser,
}) => {
  const { ana, ben, phone, bare, ring, messages } = await openSleepingPhone(server, makePushBrowser, 9_950);
  const anas = await openCaller(browser, server, ana, ben);
  const dialledAt = Date.now();
  await callButton(anas, ben).click();
  await expect.poll(() => readNotification(bare, ring), { intervals: [50] }).toBeDefined();
  test.info().annotations.push({ type: "ms from dialling to notification", description: `${Date.now() - dialledAt}` });
  expect(await readNotification(bare, ring)).toEqual({
    body: incoming,
    silent: false,
    requireInteraction: true,
    actions: ["answer", "decline"],
  });
  expect(await listNotifications(bare)).toEqual([{ title: ana.username, body: incoming, tag: ring }]);
  expect(Number(service.received.at(-1)?.headers["ttl"])).toBeLessThanOrEqual(callRingMs / 1_000);
  await patient(callScreen(anas, ben)).toBeVisible();

  // Declining it ends the caller's ring without opening the app.
  const pages = phone.context.pages().length;
  await tapNotification(phone, ring, "decline");
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await patient(callEntry(anas, `Vous : Appel audio refusé par ${ben.username}`)).toBeVisible();
  expect(await listNotifications(bare)).toEqual([]);
  expect(phone.context.pages()).toHaveLength(pages);

  // Calls that nobody answers become one notification that counts them.
  for (const body of [missed, "2 appels manqués"]) {
    await callButton(anas, ben).click();
    await expect.poll(async () => (await readNotification(bare, ring))?.body).toBe(incoming);
    await pauseBetweenTaps(anas);
    await callControl(anas, "hangUp").click();
    await expect.poll(async () => (await readNotification(bare, messages))?.body).toBe(body);
    await expect.poll(() => listNotifications(bare)).toHaveLength(1);
    await patient(callScreen(anas, ben)).toHaveCount(0);
  }

  // A call answered on another device is replaced on the phone.
  const tablet = await TestClient.open(browser, server);
  await tablet.signIn(await signInAgain(toSite(server), ben));
  await callButton(anas, ben).click();
  await expect.poll(async () => (await readNotification(bare, ring))?.body).toBe(incoming);
  await callControl(tablet, "accept").click();
  const answeredAt = Date.now();
  const elsewhere = "Appel pris sur un autre appareil";
  await expect.poll(async () => (await readNotification(bare, ring))?.body, { intervals: [50] }).toBe(elsewhere);
  test.info().annotations.push({ type: "ms from answer to replacement", description: `${Date.now() - answeredAt}` });
  await expect.poll(() => readNotification(bare, ring)).toBeUndefined();
  await callControl(tablet, "hangUp").click();
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await tablet.close();

  // A page that is opened while the call rings shows it.
  await callButton(anas, ben).click();
  await expect.poll(async () => (await readNotification(bare, ring))?.body).toBe(incoming);
  const opened = await TestClient.openIn(phone.context, server, "fr");
  await opened.goTo(`/app/chat/${ana.id}`);
  await patient(callScreen(opened, ana)).toContainText(fill(opened.texts.calls.status.ringingAudio, {}));
  expect((await readNotification(bare, ring))?.body).toBe(incoming);
  await callControl(opened, "accept").click();
  await expect.poll(() => readNotification(bare, ring)).toBeUndefined();
});

test("a page in the background shows a message and a call as notifications, which end in the app; a push is silent after the ring and where a visible page rings", async ({
  browser,
  server,
  makePushBrowser,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_962);
  const [ana, ben] = people;
  const push = makePushBrowser();
  const phone = await push.open();
  await turnOn(phone, ben);
  const anas = await openCaller(browser, server, ana, ben);
  await phone.openRoute("/app");
  await setVisibility(phone, "hidden");
  await anas.write("Mbote");
  const shown = { title: ana.username, body: "Mbote", tag: toConversationTag(conversation) };
  await expect.poll(() => listNotifications(phone.page)).toEqual([shown]);
  expect(await phone.conversation(ana.username).textContent()).toContain("Mbote"); // the page was connected meanwhile
  await setVisibility(phone, "visible");
  await phone.conversation(ana.username).click();
  await expect.poll(() => listNotifications(phone.page)).toEqual([]);

  await setVisibility(phone, "hidden");
  const ring = toCallTag(conversation);
  await callButton(anas, ben).click();
  await patient(callScreen(phone, ana)).toBeVisible();
  await expect.poll(async () => (await readNotification(phone.page, ring))?.body).toBe(incoming);
  await tapNotification(phone, ring, "decline");
  await patient(callScreen(anas, ben)).toHaveCount(0);
  await patient(callScreen(phone, ana)).toHaveCount(0);
  expect(await listNotifications(phone.page)).toEqual([]);

  // A push that arrives after the ring shows a missed call, and one where a visible page rings the call, without a sound.
  const bare = await push.openBarePage();
  await phone.page.close();
  const missedCall = { body: missed, silent: true, requireInteraction: false, actions: [] };
  await push.push(callPush(ben, ana, Date.now() - 2 * callRingMs));
  await expect.poll(() => readNotification(bare, ring)).toEqual(missedCall);

  const opened = await TestClient.openIn(phone.context, server, "fr");
  await opened.goTo("/app");
  await opened.page.bringToFront();
  await push.push(callPush(ben, ana, Date.now()));
  await expect.poll(() => readNotification(bare, ring)).toMatchObject({ body: incoming, silent: true });
});
