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
import { readLocalLog, readServerLog } from "#tests/support/server/logs.ts";

const startTimeoutMs = 60_000; // the notifier is loaded when the app is idle
const settledMs = 4_000; // until then messages count as older than the page

test("badge and title count what is unread, also what another device reads; own messages, and messages read on another device, notify nobody", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people, conversation } = await makePair(site, 9_380);
  const [ana, ben] = people;
  const tablet = await TestClient.open(browser, server);
  const { page, texts } = tablet;
  await page.addInitScript(recordNotifications);
  await page.addInitScript(() => {
    const setAppBadge = async (count: number) => void Object.assign(window, { badge: count });
    Object.defineProperty(navigator, "setAppBadge", { value: setAppBadge });
  });
  const readShown = () => page.evaluate(() => [Reflect.get(window, "badge"), document.title]);
  /** The person reads everything on another device. */
  const readElsewhere = async () => {
    const head = (await readServerLog(site, ana, conversation)).length;
    const read = { token: ana.token, body: { delivered: head, read: head } };
    expect((await callSite(site, "PUT", `/api/conversations/${conversation}/marks`, read)).status).toBeLessThan(300);
  };
  const masolo = `${texts.shell.tabs.masolo} · Lisolo`;
  const contacts = `${texts.shell.tabs.contacts} · Lisolo`;

  await tablet.signIn(await signInAgain(site, ana));
  await expect.poll(readShown, { timeout: startTimeoutMs }).toEqual([0, masolo]);
  await sendTexts(site, ben, conversation, ["un", "deux"]);
  await expect.poll(readShown).toEqual([2, `(2) ${masolo}`]);
  await tablet.goToTab("contacts");
  await expect.poll(readShown).toEqual([2, `(2) ${contacts}`]);
  await readElsewhere();
  await expect.poll(readShown).toEqual([0, contacts]);

  // A message that nobody reads makes one sound and one banner, once the page has settled.
  await page.getByRole("heading", { level: 1 }).click(); // sounds need a touch
  await expect(async () => {
    await sendTexts(site, ben, conversation, ["pour tous"]);
    await expect(findBanner(page)).toBeVisible({ timeout: 3_000 });
  }).toPass({ timeout: startTimeoutMs });
  await waitForQuiet(page);
  const [sounds, banners] = [await countSounds(page), (await listBanners(page)).length];

  await sendTexts(site, ana, conversation, ["de moi"]);
  await expect.poll(async () => (await readLocalLog(page, conversation)).at(-1)?.text).toBe("de moi"); // arrived live
  await waitForQuiet(page);
  // Another device reads while the tablet is away.
  await tablet.context.setOffline(true);
  await sendTexts(site, ben, conversation, ["lu ailleurs"]);
  await readElsewhere();
  await tablet.context.setOffline(false);
  await page.waitForTimeout(settledMs);
  await sendTexts(site, ben, conversation, ["à la fin"]);
  await expect(findBanner(page)).toContainText("à la fin", { timeout: startTimeoutMs });
  await waitForQuiet(page);
  expect(await listBanners(page)).toHaveLength(banners + 1);
  expect(await countSounds(page)).toBe(sounds + 1);
  await tablet.close();
});
