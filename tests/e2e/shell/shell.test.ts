import { privateConversationId } from "#contract/ids.ts";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient, type Texts, withholdContent } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

declare global {
  interface Window {
    /** Largest distance of the screen's header from the top, and the largest height of the loading indicator. */
    moments: { top: number; opacity: string }[];
    /** Runs the timers that are due within these seconds. */
    goOn: () => void;
  }
}

const wide = { width: 1280, height: 800 };
const toastMs = 3_000; // of a line

const namesOf = (t: Texts): [path: string, heading: string][] => [
  ["/app", t.masolo.title],
  ["/app/makutano", t.makutano.title],
  ["/app/contacts", t.contacts.title],
  ["/app/senga", t.senga.title],
  ["/app/tala", t.tala.title],
  ["/app/services", t.services.title],
  ["/app/profile", t.profile.title],
  ["/app/appearance", t.appearance.title],
  ["/app/handle", t.handle.title],
  ["/app/verify-number", t.number.title],
  ["/app/install", t.install.title],
  ["/app/notifications", t.settings.notifications.title],
  ["/app/privacy", t.settings.privacy.title],
  ["/app/help", t.help.title],
  ["/app/blocked", t.blocked.title],
  ["/app/create-group", t.groups.create.title],
];

test("six tabs, the active one by path prefix, and no bar on screens that need the space; every screen has a name and a description, and fits a phone, in French and in Portuguese", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 700), await makePerson(site, 701)];
  await connectPeople(site, ana, ben);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  const bar = page.getByRole("navigation", { name: texts.shell.navigation });
  await expect(bar.getByRole("link")).toHaveCount(6);
  const active = bar.locator('[aria-current="page"]');
  await expect(active).toHaveText(texts.shell.tabs.masolo);
  for (const tab of ["makutano", "contacts", "senga", "tala", "services"] as const) {
    await phone.goToTab(tab);
    await expect(page).toHaveURL(`/app/${tab}`);
    await expect(active).toHaveText(texts.shell.tabs[tab]);
    await expect(page.getByRole("heading", { level: 1 })).toBeFocused();
    expect(await page.locator("header").evaluate((header) => header.getBoundingClientRect().height)).toBe(72);
    for (const link of await bar.getByRole("link").all()) {
      const box = await link.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(48);
    }
  }
  // These screens belong to no tab.
  for (const path of ["/app/profile", "/app/notifications", "/app/privacy", "/app/help", "/app/blocked"]) {
    await phone.openRoute(path);
    await expect(page).toHaveURL(path);
    await expect(active).toHaveCount(0);
    await expect(bar.getByRole("link")).toHaveCount(6);
  }
  const group = `/app/group/${await makeGroup(site, ana, "Famille", [ben])}`;
  for (const path of [`/app/user/${ben.id}`, `/app/chat/${ben.id}`, group, `${group}/members`, "/app/create-group"]) {
    await phone.openRoute(path);
    await expect(page.getByRole("main").getByRole("link", { name: texts.common.back })).toBeVisible();
    await expect(bar).toHaveCount(0);
  }

  // The languages with the longest words.
  for (const language of ["fr", "pt"] as const) {
    if (language !== "fr") {
      await phone.switchLanguage(language);
      await page.reload();
    }
    const seen = new Set<string>();
    for (const [path, heading] of namesOf(phone.texts)) {
      await phone.openRoute(path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
      await expect.poll(() => page.title()).toContain(heading);
      const description = await page.locator('meta[name="description"]').getAttribute("content");
      expect(description).toBeTruthy();
      seen.add(`${await page.title()}\n${description}`);
      const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(overflows, `${path} is wider than the screen in ${language}`).toBe(false);
    }
    expect(seen.size).toBe(namesOf(phone.texts).length);
  }
  await phone.close();
});

test("on a wide screen the list stays beside the open chat, and back returns", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 707), await makePerson(site, 708)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["Mbote"]);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await page.setViewportSize(wide);
  await phone.signIn(ana);
  await expect(page.getByText(texts.shell.nothingOpen.body)).toBeVisible();
  await phone.goToTab("services");
  await expect(page.getByText(texts.shell.nothingOpen.bodyElsewhere)).toBeVisible();
  await phone.goToTab("masolo");
  const row = page.getByRole("list", { name: texts.masolo.list }).getByText(ben.username, { exact: true });
  await row.click();
  await expect(phone.message("Mbote")).toBeVisible();
  await expect(row).toBeVisible();
  const list = await row.boundingBox();
  const chat = await page.getByRole("main").boundingBox();
  expect((list?.x ?? 0) + (list?.width ?? 0)).toBeLessThanOrEqual(chat?.x ?? 0);

  await page.goBack();
  await expect(page.getByText(texts.shell.nothingOpen.title)).toBeVisible();
  await page.goForward();
  await expect(phone.message("Mbote")).toBeVisible();
  await page.reload();
  await expect(phone.message("Mbote")).toBeVisible();
  await expect(row).toBeVisible();

  // The chat's menu by keyboard: it opens on its first entry, arrow keys wrap around, and Escape returns the focus.
  const menuButton = page.getByRole("main").getByRole("button", { name: texts.common.more });
  await menuButton.focus();
  await page.keyboard.press("Enter");
  const entries = page.getByRole("menuitem");
  await expect(entries.first()).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(entries.last()).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(entries.first()).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(entries).toHaveCount(0);
  await expect(menuButton).toBeFocused();

  // On a narrow screen the chat is alone; back shows the list again.
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(phone.message("Mbote")).toBeVisible();
  await expect(row).toBeHidden();
  // With text twice as large its header still names the person and opens the menu.
  const setText = (size: string) =>
    page.evaluate((fontSize) => {
      document.documentElement.style.fontSize = fontSize;
    }, size);
  await setText("200%");
  const name = page.getByRole("main").getByRole("heading", { level: 1 }).locator("bdi");
  await expect.poll(async () => (await name.boundingBox())?.width).toBeGreaterThan(6 * 16);
  await expect(menuButton).toBeInViewport({ ratio: 1 });
  // On a narrow screen the calls have no button of their own; they are in the menu.
  await menuButton.click();
  await expect(page.getByRole("menuitem", { name: texts.people.audioCall, exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await setText("");
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(row).toBeVisible();
  await expect(page).toHaveURL("/app");
  await phone.close();
});

test("one toast at a time, a line for three seconds; the language persists", async ({ browser, server }) => {
  const ana = await makePerson(toSite(server), 709);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await page.getByRole("link", { name: texts.shell.myProfile }).click();
  await expect(page.getByRole("main").getByText(ana.username)).toBeVisible();
  await expect(page.getByRole("main").getByText(formatPhone(ana.phone))).toBeVisible();
  // From here on the clock is controlled by the test, so a busy machine does not matter.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.getByText("English", { exact: true }).click();
  await expect(page.getByText("Language changed to English")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Profile");
  await page.getByText("Português", { exact: true }).click();
  const second = page.getByText("Idioma alterado para Português");
  await expect(second).toBeVisible();
  await expect(page.getByText("Language changed to English")).toHaveCount(0);
  await page.clock.runFor(toastMs - 1);
  await expect(second).toBeVisible();
  await page.clock.runFor(1);
  await expect(second).toHaveCount(0);
  // Its time does not run while the page is hidden.
  const look = (state: "hidden" | "visible") =>
    page.evaluate((state) => {
      Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  const third = page.getByText("Langue changée vers Français");
  await look("hidden");
  await page.getByText("Français", { exact: true }).click();
  await expect(third).toBeVisible();
  await page.clock.runFor(2 * toastMs);
  await expect(third).toBeVisible();
  await look("visible");
  await page.clock.runFor(toastMs);
  await expect(third).toHaveCount(0);
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("lang", "fr");
  await phone.close();
});

test("a screen whose code cannot be loaded offers a retry, and loads by itself with the network", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 713);
  const phone = await TestClient.open(browser, server);
  const { page, texts, context } = phone;
  await phone.signIn(ana);
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible();
  const code = "**/assets/people-screen-*.js";
  await context.route(code, (route) => route.abort());
  await phone.pressTab("senga");
  const missing = page.getByText(texts.shell.missing.title);
  await expect(missing).toBeVisible();
  const refused = page.waitForEvent("requestfailed", (request) => request.url().includes("/people-screen-"));
  await page.getByRole("button", { name: texts.common.retry }).click();
  await refused;
  await expect(missing).toBeVisible();
  await context.unroute(code);
  await page.getByRole("button", { name: texts.common.retry }).click();
  await expect(page.getByRole("searchbox", { name: texts.senga.searchLabel })).toBeVisible();

  await context.setOffline(true);
  await phone.pressTab("makutano");
  await expect(missing).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByRole("heading", { level: 1, name: texts.makutano.title })).toBeVisible();
  await expect(missing).toHaveCount(0);
  await phone.close();
});

test("the first moments after signing in are stable: no bar above, no placeholder for the own name, a visible loading state", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 719);
  const phone = await TestClient.open(browser, server);
  const { page, texts, context } = phone;
  await page.setViewportSize({ width: 1280, height: 800 });
  // A slow server: the connection opens and is silent, and no answer arrives.
  await context.routeWebSocket(/.*/, () => {});
  await context.route(/\/api\/(users|sync)/, () => {});
  // Its pages have no content either.
  await withholdContent(context);
  // Measured by the page itself in each frame, because the test may come later than the bar.
  await page.addInitScript((loading) => {
    // On a busy machine seconds may pass between two frames: timers of this length wait here until they are released.
    const [later, never] = [window.setTimeout.bind(window), window.clearTimeout.bind(window)];
    const held = new Map<number, () => void>();
    let lastId = 0;
    window.goOn = () => {
      const due = [...held.values()];
      held.clear();
      for (const run of due) run();
    };
    window.setTimeout = ((run: () => void, ms = 0) => {
      if (ms < 2_000) return later(run, ms);
      held.set(--lastId, run);
      return lastId;
    }) as typeof window.setTimeout;
    window.clearTimeout = (id) => void (held.delete(Number(id)) || never(id));
    window.moments = [];
    const look = () => {
      requestAnimationFrame(look);
      const header = document.querySelector("header");
      const wait = [...document.querySelectorAll(".late")].find(({ textContent }) => textContent?.includes(loading));
      if (header && wait)
        window.moments.push({ top: header.getBoundingClientRect().y, opacity: getComputedStyle(wait).opacity });
    };
    look();
  }, texts.common.loading);
  await phone.logIn(ana.phone);
  const profile = page.getByRole("link", { name: texts.shell.myProfile });
  await expect(profile).toBeVisible();
  await expect(profile.locator("[data-initials]")).toHaveCount(0);
  const shows = () => page.evaluate(() => window.moments.find(({ opacity }) => opacity === "1"));
  await expect.poll(shows).toEqual({ top: 0, opacity: "1" });
  expect(await page.evaluate(() => window.moments[0])).toMatchObject({ top: 0 });
  // A lasting state is announced.
  await page.evaluate(() => window.goOn());
  await expect(page.getByText(texts.shell.link.connecting)).toBeVisible();
  await phone.close();
});
