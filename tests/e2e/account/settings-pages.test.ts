import type { Page } from "@playwright/test";
import * as v from "valibot";
import { privateConversationId } from "#contract/ids.ts";
import { type Settings, VersionedSettings } from "#contract/settings/settings.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

const tabsPerPage = 16; // more than the number of fields on any of these pages

const switchOf = ({ page }: TestClient, name: string) => page.getByRole("switch", { name, exact: true });

/** Preview level of private messages, the first of two groups of levels. */
const levelOf = ({ page }: TestClient, name: string) => page.getByRole("radio", { name, exact: true }).first();

/** Sets a person's settings on the server. */
const expectKept = (site: Site, { token }: Person, wanted: Partial<Settings>): Promise<void> =>
  expect
    .poll(async () => {
      const { body } = await callSite(site, "GET", "/api/settings", { token });
      return v.parse(VersionedSettings, body).settings;
    })
    .toMatchObject(wanted);

test("privacy settings work by keyboard, are shown on another device at once, and persist after a reload and on the server", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9_820, "Ana");
  const [phone, tablet] = [await TestClient.open(browser, server), await TestClient.open(browser, server, "pt")];
  for (const one of [phone, tablet]) await one.signIn(ana, "/app/privacy");
  const { page, texts } = phone;
  const { privacy } = texts.settings;
  await expect(page.getByText(privacy.seen.profile)).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);

  for (const name of [
    ...(["receipts", "presence", "hidesAddress", "phoneInGroups"] as const),
    ...(["requestsFrom", "callsFrom", "groupAdds", "tala"] as const),
  ]) {
    const wasOn = name !== "hidesAddress" && name !== "phoneInGroups";
    await expect(switchOf(phone, privacy[name])).toBeChecked({ checked: wasOn });
    await expect(switchOf(phone, privacy[name])).toHaveAccessibleDescription(privacy[`${name}Body`]);
    await switchOf(phone, privacy[name]).press("Space");
    await expect(switchOf(phone, privacy[name])).toBeChecked({ checked: !wasOn });
    await expect(switchOf(phone, privacy[name])).toBeFocused();
    await expect(switchOf(tablet, tablet.texts.settings.privacy[name])).toBeChecked({ checked: !wasOn });
  }
  const choices = page.getByRole("group", { name: privacy.findable.title });
  await choices.getByRole("radio", { name: privacy.findable.part, exact: true }).focus();
  await page.keyboard.press("ArrowDown");
  const whole = choices.getByRole("radio", { name: privacy.findable.whole, exact: true });
  await expect(whole).toBeChecked();
  await expect(whole).toHaveAccessibleDescription(privacy.findable.wholeBody);
  // The text about who can see the phone number follows the switch for groups.
  await expect(page.getByText(privacy.seen.numberShown)).toBeVisible();
  await expect(tablet.page.getByText(tablet.texts.settings.privacy.seen.numberShown)).toBeVisible();
  const onTablet = tablet.texts.settings.privacy;
  const tabletChoices = tablet.page.getByRole("group", { name: onTablet.findable.title });
  await expect(tabletChoices.getByRole("radio", { checked: true })).toHaveAccessibleName(onTablet.findable.whole);
  const pictureChoice = (name: string) =>
    page.getByRole("group", { name: privacy.picture.title }).getByRole("radio", { name, exact: true });
  // So do the texts about the picture, and about a number that nobody sees.
  await expect(page.getByText(privacy.seen.profile)).toBeVisible();
  await pictureChoice(privacy.picture.everyone).focus();
  await page.keyboard.press("ArrowDown");
  await expect(pictureChoice(privacy.picture.contacts)).toBeChecked();
  await expect(page.getByText(privacy.seen.profileRestricted)).toBeVisible();
  await expect(tablet.page.getByText(onTablet.seen.profileRestricted)).toBeVisible();
  await switchOf(phone, privacy.phoneTo).press("Space");
  await expect(page.getByText(privacy.seen.numberHidden)).toBeVisible();
  await expect(tablet.page.getByText(onTablet.seen.numberHidden)).toBeVisible();
  // The switch for groups has no effect then: it says so, and keeps the choice.
  for (const [one, name, body] of [
    [phone, privacy.phoneInGroups, privacy.phoneInGroupsHidden],
    [tablet, onTablet.phoneInGroups, onTablet.phoneInGroupsHidden],
  ] as const) {
    const inGroups = switchOf(one, name);
    await expect(inGroups).toBeDisabled();
    await expect(inGroups).not.toBeChecked();
    await expect(inGroups).toHaveAccessibleDescription(body);
    await inGroups.press("Space");
    await expect(inGroups).not.toBeChecked();
  }
  const wanted = {
    receipts: false,
    presence: false,
    hidesAddress: true,
    findable: "whole",
    phoneInGroups: true,
    groupAdds: "nobody",
    requestsFrom: "nobody",
    callsFrom: "nobody",
    pictureTo: "contacts",
    phoneTo: "nobody",
    tala: false,
  } as const;
  await expectKept(site, ana, wanted);

  await switchOf(tablet, tablet.texts.settings.privacy.presence).press("Enter");
  await expect(switchOf(phone, privacy.presence)).toBeChecked();
  await page.reload();
  await expect(switchOf(phone, privacy.receipts)).not.toBeChecked();
  await expect(switchOf(phone, privacy.presence)).toBeChecked();
  await expect(whole).toBeChecked();
  await page.getByRole("link", { name: texts.blocked.title }).click();
  await expect(page).toHaveURL("/app/blocked");
  for (const one of [phone, tablet]) await one.close();
});

test("a notification setting changed offline applies at once, and reaches the server and the other device when the network is back; quiet hours are set by keyboard in the time zone of the device, and apply after a reload", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ben = await makePerson(site, 9_821, "Ben");
  const [phone, tablet] = [await TestClient.open(browser, server), await TestClient.open(browser, server, "en")];
  for (const one of [phone, tablet]) await one.signIn(ben, "/app/notifications");
  const { page, texts } = phone;
  const { notifications } = texts.settings;
  const { quiet, levels } = notifications;
  const sound = switchOf(phone, `${notifications.groups} ${notifications.sound}`);
  await expect(sound).toBeVisible(); // before its network fails
  const ring = switchOf(phone, `${notifications.calls} ${notifications.ring}`);
  const reactions = switchOf(phone, notifications.reactionsToMine);
  const there = tablet.texts.settings.notifications;

  await phone.context.setOffline(true);
  await expect(page.getByText(texts.shell.link.offline)).toBeVisible();
  await sound.click();
  await ring.click();
  await expect(reactions).toBeChecked();
  await reactions.press("Enter");
  await expect(reactions).not.toBeChecked();
  await expect(sound).not.toBeChecked();
  await expect(ring).not.toBeChecked();
  // Another choice is made on another device meanwhile: both apply.
  await levelOf(tablet, there.levels.name).press("Space");
  await expectKept(site, ben, { messages: { sound: true, preview: "name" }, calls: { sound: true } });
  await phone.context.setOffline(false);
  await expectKept(site, ben, {
    messages: { sound: true, preview: "name" },
    groups: { sound: false, preview: "text" },
    calls: { sound: false },
    reactions: false,
  });
  await expect(switchOf(tablet, there.reactionsToMine)).not.toBeChecked();
  await expect(switchOf(tablet, `${there.groups} ${there.sound}`)).not.toBeChecked();
  await expect(switchOf(tablet, `${there.calls} ${there.ring}`)).not.toBeChecked();
  await expect(levelOf(phone, notifications.levels.name)).toBeChecked();

  const [from, to] = [page.getByLabel(quiet.from, { exact: true }), page.getByLabel(quiet.to, { exact: true })];
  const isOn = switchOf(phone, quiet.on);
  await expect(isOn).not.toBeChecked();
  await expect(from).toHaveCount(0);
  await isOn.focus();
  await page.keyboard.press("Space");
  await expect(isOn).toBeChecked();
  await expect(from).toHaveValue("22:00");
  await page.keyboard.press("Tab");
  await expect(from).toBeFocused();
  // A time that is left empty is not saved, and the field shows the saved one again.
  await from.fill("");
  await to.focus();
  await expect(from).toHaveValue("22:00");
  await expect(from).toHaveAccessibleDescription(fill(quiet.kept, { time: "22:00" }));
  await to.fill("22:00");
  await expect(page.getByText(quiet.allDay)).toBeVisible();
  await from.fill("21:30");
  await expect(from).toHaveAccessibleDescription("");
  await to.fill("06:15");
  await expect(page.getByText(quiet.allDay)).toHaveCount(0);
  await switchOf(phone, quiet.calls).click();
  await levelOf(phone, levels.nothing).press("Space");
  const timeZone = await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone);
  await expectKept(site, ben, {
    quietHours: { isOn: true, from: 21 * 60 + 30, to: 6 * 60 + 15, timeZone, allowsCalls: false },
    messages: { sound: true, preview: "nothing" },
  });
  await expect(page.getByText(fill(quiet.zone, { zone: timeZone }))).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);
  await page.reload();
  await expect(from).toHaveValue("21:30");
  await expect(to).toHaveValue("06:15");
  await expect(switchOf(phone, quiet.calls)).not.toBeChecked();
  await expect(levelOf(phone, levels.nothing)).toBeChecked();
  for (const one of [phone, tablet]) await one.close();
});

test("a device without room for a setting sends it all the same, and muted conversations are listed with links to them and back", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_822, "Ana"), await makePerson(site, 9_823, "Ben")];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ben, conversation, ["Mbote"]);
  const phone = await TestClient.open(browser, server, "pt");
  const { page, texts } = phone;
  const { notifications } = texts.settings;
  await phone.signIn(ana, `/app/user/${ben.id}`);
  await page.getByRole("button", { name: texts.mute.on }).click();
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(page.getByRole("button", { name: texts.mute.off })).toBeVisible();

  await phone.openRoute("/app/notifications");
  const list = page.getByRole("list", { name: `${notifications.muted} (1)` });
  await expect(list.getByRole("link", { name: "Ben" })).toHaveAttribute("href", `/app/chat/${ben.id}`);
  // A user who navigated elsewhere before the answer arrives stays there.
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await page.route("**/api/mutes/**", (route) => held.then(() => route.continue()));
  const unmute = list.getByRole("button", { name: notifications.unmute.replace("{name}", "Ben") });
  await unmute.click();
  await expect(unmute).toBeDisabled();
  const goneOnTo = switchOf(phone, `${notifications.calls} ${notifications.ring}`);
  await goneOnTo.focus();
  letOn();
  await expect(page.getByText(texts.mute.isOff)).toBeVisible();
  await expect(page.getByText(notifications.mutedNone)).toBeVisible();
  await expect(goneOnTo).toBeFocused();
  await page.unroute("**/api/mutes/**");

  // A permanent refusal restores the former value.
  const sound = switchOf(phone, `${notifications.messages} ${notifications.sound}`);
  await page.route("**/api/settings", (route) =>
    route.fulfill({ status: 400, json: { code: 400, error_code: "invalid_input", msg: "" } }),
  );
  await sound.click();
  // The toast is shown for a moment and dismissed meanwhile.
  await expect(page.getByRole("alert")).toContainText(texts.shell.notice.settingsRefused);
  await page.getByRole("alert").getByRole("button", { name: texts.common.close }).press("Enter");
  await expect(sound).toBeFocused();
  await expect(sound).toBeChecked();

  // Without room the change is sent from memory.
  await page.unroute("**/api/settings");
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("no room", "QuotaExceededError");
    };
  });
  const saved = page.waitForResponse("**/api/settings");
  await sound.click();
  expect((await saved).status()).toBe(200);
  await expect(sound).not.toBeChecked();
  await phone.close();
});

/** Texts and icons of the page's lists of settings that reach beyond the screen. */
const listOverflowing = (page: Page): Promise<string[]> =>
  page
    .getByRole("main")
    .locator("a, dd, dt, fieldset, legend")
    .evaluateAll((all) =>
      all
        .flatMap((part) => [part, ...part.querySelectorAll("span")])
        .filter((part) => part.getBoundingClientRect().right > innerWidth)
        .map((part) => part.outerHTML),
    );

test("on a small screen, moving through a page's fields by keyboard in very large text scrolls its list and never the app; in letters twice as large, what stands beside a label moves below it and stays in its card", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 9_829, "Ana");
  const phone = await TestClient.open(browser, server);
  const { page } = phone;
  await page.setViewportSize({ width: 360, height: 560 });
  await phone.signIn(ana, "/app/appearance");
  await page.getByText(phone.texts.appearance.larger, { exact: true }).click();
  for (const path of ["/app/appearance", "/app/privacy", "/app/profile"]) {
    await phone.openRoute(path);
    await expect(page.getByRole("main").getByRole("group").first()).toBeVisible();
    const places = new Set<number>();
    for (let step = 0; step < tabsPerPage; step++) {
      await page.keyboard.press("Tab");
      places.add(
        await page.evaluate(() => [...document.querySelectorAll("*")].indexOf(document.activeElement ?? document.body)),
      );
      expect(await page.evaluate(() => document.documentElement.scrollTop), `${path}, field ${step}`).toBe(0);
    }
    expect(places.size, path).toBeGreaterThan(3);
    const room = await page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
    expect(room, path).toBe(0);
  }

  await page.setViewportSize({ width: 320, height: 640 });
  const enlarge = () => page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
  for (const language of ["fr", "pt"] as const) {
    await phone.switchLanguage(language);
    await phone.goTo("/app/profile");
    await expect(page.getByText(phone.texts.number.unverified, { exact: true })).toBeVisible();
    await enlarge();
    expect(await listOverflowing(page)).toEqual([]);
    await phone.openRoute("/app/notifications");
    await expect(page.getByText(phone.texts.settings.pushStatus.noneYet, { exact: true })).toBeVisible();
    expect(await listOverflowing(page)).toEqual([]);
  }
  await phone.close();
});
