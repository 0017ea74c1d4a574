import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  countSounds,
  findBanner,
  listBanners,
  recordNotifications,
  waitForQuiet,
} from "#tests/support/browser/notification-log.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";
import { callSite, signInAgain } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

const startTimeoutMs = 60_000; // the notifier is loaded when the app is idle
const settledMs = 4_000; // until then messages count as older than the page

test("own messages, and messages read on another device, notify nobody", async ({ browser, server }) => {
  const site = toSite(server);
  const { people } = await makePair(site, 9_380);
  const [ana, ben] = people;
  const conversation = privateConversationId(ana.id, ben.id);
  const phone = await TestClient.open(browser, server);
  await phone.signInToChat(ana, ben.id);
  const tablet = await TestClient.open(browser, server);
  await tablet.context.addInitScript(recordNotifications);
  await tablet.signIn(await signInAgain(site, ana), "/app/contacts");
  const { page } = tablet;
  await page.getByRole("heading", { level: 1 }).click(); // sounds need a touch

  // A message that nobody reads makes one sound and one banner, once the page has settled.
  await phone.goTo("/app/contacts");
  await expect(async () => {
    await sendTexts(site, ben, conversation, ["pour tous"]);
    await expect(findBanner(page)).toBeVisible({ timeout: 3_000 });
  }).toPass({ timeout: startTimeoutMs });
  await waitForQuiet(page);
  await page.waitForTimeout(settledMs);
  const [sounds, banners] = [await countSounds(page), (await listBanners(page)).length];

  await phone.openChat(ben.id);
  await phone.write("de moi");
  await expect(phone.ticks("de moi", "sent")).toBeVisible();
  await phone.goTo("/app/contacts");
  // Another device reads while the tablet is away.
  await tablet.context.setOffline(true);
  await sendTexts(site, ben, conversation, ["lu ailleurs"]);
  const head = (await readServerLog(site, ana, conversation)).length;
  const read = { token: ana.token, body: { delivered: head, read: head } };
  expect((await callSite(site, "PUT", `/api/conversations/${conversation}/marks`, read)).status).toBeLessThan(300);
  await tablet.context.setOffline(false);
  await page.waitForTimeout(settledMs);
  await sendTexts(site, ben, conversation, ["à la fin"]);
  await expect(findBanner(page)).toContainText("à la fin", { timeout: startTimeoutMs });
  await page.waitForTimeout(settledMs);
  expect(await listBanners(page)).toHaveLength(banners + 1);
  expect(await countSounds(page)).toBe(sounds + 1);
});

test("badge and title count what is unread, also what another device reads", async ({ browser, server }) => {
  const site = toSite(server);
  const { people } = await makePair(site, 9_382);
  const [ana, ben] = people;
  const conversation = privateConversationId(ana.id, ben.id);
  const tablet = await TestClient.open(browser, server);
  const { page, texts } = tablet;
  await page.addInitScript(() => {
    const setAppBadge = async (count: number) => void Object.assign(window, { badge: count });
    Object.defineProperty(navigator, "setAppBadge", { value: setAppBadge });
  });
  const readShown = () => page.evaluate(() => [Reflect.get(window, "badge"), document.title]);
  const masolo = `${texts.shell.tabs.masolo} · Lisolo`;
  await tablet.signIn(ana);
  await expect.poll(readShown, { timeout: startTimeoutMs }).toEqual([0, masolo]);
  const arrivalAt = Date.now();
  await sendTexts(site, ben, conversation, ["un", "deux"]);
  await expect.poll(readShown).toEqual([2, `(2) ${masolo}`]);
  const arrivedMs = Date.now() - arrivalAt;
  await tablet.goToTab("contacts");
  await expect.poll(readShown).toEqual([2, `(2) ${texts.shell.tabs.contacts} · Lisolo`]);

  const phone = await TestClient.open(browser, server);
  await phone.signIn(await signInAgain(site, ana));
  await expect(phone.conversation(ben.username)).toBeVisible();
  await phone.conversation(ben.username).click();
  await expect(phone.message("deux")).toBeVisible();
  const readAt = Date.now();
  await expect.poll(readShown).toEqual([0, `${texts.shell.tabs.contacts} · Lisolo`]);
  const description = `${arrivedMs} after sending, ${Date.now() - readAt} after reading`;
  test.info().annotations.push({ type: "ms until badge and title are right", description });
});
