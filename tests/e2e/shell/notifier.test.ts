import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  countSounds,
  findBanner,
  listBanners,
  recordNotifications,
  waitForQuiet,
} from "#tests/support/browser/notification-log.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

type People = { site: Site; ana: Person; ben: Person; cleo: Person };

const makePeople = async (site: Site, n: number): Promise<People> => {
  const [ana, ben, cleo] = [
    await makePerson(site, n, "Ana"),
    await makePerson(site, n + 1, "Ben"),
    await makePerson(site, n + 2, "Cléo"),
  ];
  for (const other of [ana, cleo]) await connectPeople(site, other, ben);
  return { site, ana, ben, cleo };
};

/** Sends messages from this person to Ben without another window. */
const writerOf =
  ({ site, ben }: People) =>
  (from: Person, ...texts: string[]) =>
    sendTexts(site, from, privateConversationId(from.id, ben.id), texts);

/**
 * The page notifies of nothing until it has been in sync with the server for a while, because earlier changes may be
 * old.
 */
const untilItTells = (page: Page, write: () => Promise<void>): Promise<void> =>
  expect(async () => {
    await write();
    await expect(findBanner(page)).toBeVisible({ timeout: 1_500 });
  }).toPass({ timeout: 30_000 });

test("a message for another screen plays one sound, shows a banner for a moment, as configured, and opens its chat", async ({
  browser,
  server,
}) => {
  const people = await makePeople(toSite(server), 9_810);
  const { site, ana, ben, cleo } = people;
  const write = writerOf(people);
  const group = await makeGroup(site, cleo, "Famille", [ben]);
  const context = await browser.newContext({ baseURL: server.origin });
  await context.addInitScript(recordNotifications);
  const phone = await TestClient.openIn(context, server);
  const { page, texts } = phone;
  // The notification code is loaded late, and its first request fails.
  await page.route("**/assets/notifier-*", (route) => route.abort(), { times: 2 });
  await phone.signIn(ben, "/app/contacts");
  const banner = findBanner(page);
  const link = banner.getByRole("link");

  // A user who is typing keeps the focus.
  const search = page.getByRole("searchbox");
  await search.fill("Cl");
  await untilItTells(page, () => write(ana, "Mbote !"));
  await banner.hover(); // hovered, it stays
  await expect(link).toHaveAccessibleName("Ana Mbote !");
  await expect(link).toHaveAttribute("href", `/app/chat/${ana.id}`);
  await expect(page.getByRole("status").getByText(fill(texts.notifier.from, { name: "Ana" }))).toBeAttached();
  await search.press("e");
  await expect(search).toHaveValue("Cle");
  await expect(banner).toBeVisible();
  await page.mouse.move(180, 700);
  await expect(banner).toHaveCount(0);

  // Several at once: one sound, and the newest is shown.
  await waitForQuiet(page);
  const before = await countSounds(page);
  await write(ana, "un", "deux", "trois");
  await expect(link).toContainText("trois");
  await expect.poll(() => countSounds(page)).toBe(before + 1);

  // Without a preview it only says that there is a message; without a sound nothing is heard. Both apply at once on
  // this screen.
  await page.getByRole("link", { name: texts.shell.myProfile }).click();
  await page.getByRole("link", { name: texts.settings.notifications.title }).click();
  const { messages, sound, levels } = texts.settings.notifications;
  const soundSwitch = page.getByRole("switch", { name: `${messages} ${sound}` });
  const nameOnly = page.getByRole("radio", { name: levels.name, exact: true }).first(); // of messages, before groups
  await soundSwitch.click();
  await nameOnly.press("Space");
  await expect(soundSwitch).not.toBeChecked();
  await expect(nameOnly).toBeChecked();
  await waitForQuiet(page);
  await write(ana, "secret");
  await expect(link).toHaveAccessibleName(`Ana ${texts.notifier.newMessage}`);
  // Groups have separate settings, and notifications name the author.
  await sendTexts(site, cleo, group, ["On mange !"]);
  await expect(link).toHaveAccessibleName("Famille Cléo : On mange !");
  // It opens the chat while it is shown, and no further notification appears there.
  await link.click();
  await expect(page).toHaveURL(`/app/group/${group}`);
  await expect(banner).toHaveCount(0);
  await expect.poll(() => countSounds(page)).toBe(before + 2);
  expect((await listBanners(page)).join()).not.toContain("secret");
  const shown = await listBanners(page);
  await waitForQuiet(page);
  await sendTexts(site, cleo, group, ["Ici"]);
  await expect(phone.message("Ici")).toBeVisible();
  // By keyboard it closes, and the focus returns.
  await phone.composer().focus();
  await write(ana, "encore");
  await banner.getByRole("button", { name: texts.common.close }).focus();
  await page.keyboard.press("Escape");
  await expect(banner).toHaveCount(0);
  await expect(phone.composer()).toBeFocused();
  expect(await listBanners(page)).toHaveLength(shown.length + 1);
  expect(await countSounds(page)).toBe(before + 2);
  await phone.close();
});

test("muted conversations, the list itself and an absence show no banner, and two windows play one sound", async ({
  browser,
  server,
}) => {
  const people = await makePeople(toSite(server), 9_815);
  const { site, ana, ben, cleo } = people;
  const write = writerOf(people);
  const context = await browser.newContext({ baseURL: server.origin });
  await context.addInitScript(recordNotifications);
  const phone = await TestClient.openIn(context, server, "pt");
  const { page, texts } = phone;
  await callSite(site, "PUT", `/api/mutes/${privateConversationId(ben.id, cleo.id)}`, { token: ben.token });
  await phone.signIn(ben, "/app/contacts");
  await page.locator("body").press("Shift");
  const second = await context.newPage();
  await phone.goTo("/app/makutano", second);
  await second.locator("body").press("Shift");
  for (const one of [page, second]) await untilItTells(one, () => write(ana, "Olá"));
  const soundsInAll = async () => (await countSounds(page)) + (await countSounds(second));
  for (const one of [page, second]) await waitForQuiet(one);

  // Both show it, one plays the sound; muted conversations notify of nothing.
  const before = await soundsInAll();
  const shown = (await listBanners(page)).length;
  await write(cleo, "calada");
  await write(ana, "Olá outra vez");
  for (const one of [page, second]) await expect(findBanner(one).getByRole("link")).toContainText("Olá outra vez");
  await expect.poll(soundsInAll).toBe(before + 1);
  expect((await listBanners(page)).slice(shown)).toHaveLength(1);

  // Next to the list only the row shows it, with the sound.
  await second.close();
  await phone.goToTab("masolo");
  await waitForQuiet(page);
  const heard = await countSounds(page);
  await write(ana, "na lista");
  await expect(phone.conversation("Ana")).toContainText("na lista");
  await expect.poll(() => countSounds(page)).toBe(heard + 1);

  // After an absence one sound, however much arrived, and no banner.
  await phone.goToTab("contacts");
  await waitForQuiet(page);
  await context.setOffline(true);
  await expect(page.getByText(texts.shell.link.offline)).toBeVisible();
  await write(ana, "um", "dois", "três");
  const banners = await listBanners(page);
  const soundsBefore = await countSounds(page);
  await context.setOffline(false);
  const unread = page.getByRole("navigation").getByRole("link", { name: texts.shell.tabs.masolo });
  await expect(unread).toContainText(/\d/);
  await expect(page.getByText(texts.shell.link.offline)).toHaveCount(0);
  await expect.poll(() => countSounds(page)).toBe(soundsBefore + 1);
  expect(await listBanners(page)).toEqual(banners);
  await phone.close();
});
