import { privateConversationId } from "#contract/ids.ts";
import { messageTextMaxLength } from "#contract/limits/messages.ts";
import { pongTimeoutMs } from "#contract/limits/sockets.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient, type Texts, waitForWelcome, withholdContent } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

declare global {
  interface Window {
    /** Largest distance of the screen's header from the top, and the largest height of the loading indicator. */
    moments: { top: number; opacity: string }[];
    /** Runs the timers that are due within these seconds. */
    goOn: () => void;
  }
}

const wide = { width: 1280, height: 800 };
const toastMs = 5_000;
const someone = "01900000-0000-7000-8000-000000000001";

test("a visitor who opens a protected address is led to the sign-in page", async ({ page }) => {
  for (const path of ["/app", "/app/contacts", `/app/chat/${someone}`, "/app/blocked"]) {
    await page.goto(path);
    await expect(page).toHaveURL(/\/login$/);
  }
});

test("six tabs, the active one by path prefix, and no bar on screens that need the space", async ({
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
  // Screens that are not under another tab are under /app.
  for (const path of ["/app/profile", "/app/notifications", "/app/privacy", "/app/help", "/app/blocked"]) {
    await phone.openRoute(path);
    await expect(active).toContainText(texts.shell.tabs.masolo);
  }
  const group = `/app/group/${await makeGroup(site, ana, "Famille", [ben])}`;
  for (const path of [`/app/user/${ben.id}`, `/app/chat/${ben.id}`, group, `${group}/members`, "/app/create-group"]) {
    await phone.openRoute(path);
    await expect(page.getByRole("main").getByRole("link", { name: texts.common.back })).toBeVisible();
    await expect(bar).toHaveCount(0);
  }
  await phone.close();
});

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

test("every screen has a name and a description, and fits a phone, in each language", async ({ browser, server }) => {
  const phone = await TestClient.open(browser, server);
  const { page } = phone;
  await phone.signIn(await makePerson(toSite(server), 702));
  for (const language of ["fr", "en", "pt"] as const) {
    await phone.switchLanguage(language);
    await phone.goTo("/app/services");
    const { texts } = phone;
    const seen = new Set<string>();
    for (const [path, heading] of namesOf(texts)) {
      if (language === "fr") await phone.goTo(path);
      else await phone.openRoute(path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
      await expect.poll(() => page.title()).toContain(heading);
      const description = await page.locator('meta[name="description"]').getAttribute("content");
      expect(description).toBeTruthy();
      seen.add(`${await page.title()}\n${description}`);
      const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(overflows, `${path} is wider than the screen in ${language}`).toBe(false);
    }
    expect(seen.size).toBe(namesOf(texts).length);
  }
  await phone.close();
});

test("a navigation while the app renders for the first time is followed", async ({ browser, server }) => {
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(await makePerson(toSite(server), 7061));
  await page.addInitScript(() => {
    const { replaceState } = History.prototype;
    // The router writes its index and reads the address when it is first rendered, and listens once it is committed.
    History.prototype.replaceState = function (...entry) {
      replaceState.apply(this, entry);
      if (location.pathname !== "/app/services" || entry[0]?.idx === undefined) return;
      History.prototype.replaceState = replaceState;
      queueMicrotask(() => {
        History.prototype.pushState.call(history, { idx: 1 }, "", "/app/contacts");
        dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
      });
    };
  });
  await page.goto("/app/services");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(texts.contacts.title);
  await expect(page).toHaveURL("/app/contacts");
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(texts.services.title);
  await phone.close();
});

test("an unknown address shows a message with its status, in the user's language", async ({ browser, server }) => {
  const phone = await TestClient.open(browser, server);
  const { page } = phone;
  const failures: Error[] = [];
  page.on("pageerror", (failure) => failures.push(failure));
  await phone.signIn(await makePerson(toSite(server), 706));
  for (const language of ["fr", "en", "pt"] as const) {
    await phone.switchLanguage(language);
    const { texts } = phone;
    for (const path of ["/app/nowhere", "/nowhere"]) {
      await page.goto(path);
      await expect(page.getByRole("heading", { name: texts.shell.error.title })).toBeVisible();
      await expect(page.getByText("404 Not Found")).toBeVisible();
      expect(await findAxeViolations(page)).toEqual([]);
      await page.getByRole("button", { name: texts.shell.error.home }).click();
      await expect(page.getByRole("heading", { name: texts.masolo.title })).toBeVisible();
    }
  }
  expect(failures).toEqual([]);
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
  expect(await findAxeViolations(page)).toEqual([]);

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
  expect(await findAxeViolations(page)).toEqual([]);
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

test("the list returns to its scroll position", async ({ browser, server }) => {
  const site = toSite(server);
  const ana = await makePerson(site, 7200);
  const others = [];
  for (let n = 7201; n <= 7208; n++) {
    const other = await makePerson(site, n);
    await connectPeople(site, other, ana);
    await sendTexts(site, other, privateConversationId(ana.id, other.id), ["Mbote"]);
    others.push(other);
  }
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await page.setViewportSize({ width: 360, height: 400 });
  const isUp = waitForWelcome(page);
  await phone.signIn(ana);
  await isUp;
  await expect(page.getByText(texts.shell.link.connecting)).toHaveCount(0); // nothing above the list appears or disappears any more
  const rows = page.getByRole("list", { name: texts.masolo.list }).getByRole("listitem");
  await expect(rows).toHaveCount(others.length);
  const oldest = phone.conversation(others[0]?.username ?? "");
  await oldest.scrollIntoViewIfNeeded();
  const top = async (): Promise<number> => (await oldest.boundingBox())?.y ?? Number.NaN;
  const before = await top();
  await oldest.click();
  await expect(phone.composer()).toBeVisible();
  await expect(phone.message("Mbote")).toBeVisible();
  await page.goBack();
  await expect(oldest).toBeInViewport();
  // A list that is scrolled while its rows appear can be at a fraction of a pixel, which the browser stores rounded.
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(2);
  await phone.close();
});

test("going back closes layers above a page first, one at a time, and then the page", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 480), await makePerson(site, 481)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["Mbote"]);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await phone.conversation(ben.username).click();
  await expect(phone.message("Mbote")).toBeVisible();
  const chat = page.url();
  const openMenu = () => page.getByRole("main").getByRole("button", { name: texts.common.more, exact: true }).click();
  const choose = async (item: string) => {
    await openMenu();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };
  const menu = page.getByRole("menu");
  const field = page.getByRole("searchbox", { name: texts.chat.searchLabel });

  // A menu, a question opened from a menu, a menu over the search, and the search: without a touch in between.
  await openMenu();
  await expect(menu).toBeVisible();
  await page.goBack();
  await expect(menu).toHaveCount(0);
  await choose(texts.chat.clear);
  await expect(page.getByRole("alertdialog")).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("alertdialog")).toHaveCount(0);
  await choose(texts.chat.search);
  await expect(field).toBeVisible();
  await openMenu();
  await expect(menu).toBeVisible();
  await page.goBack();
  await expect(menu).toHaveCount(0);
  await expect(field).toBeVisible();
  await page.goBack();
  await expect(field).toHaveCount(0);
  expect(page.url()).toBe(chat);
  await expect(phone.message("Mbote")).toBeVisible();

  // A layer closed by other means is not closed again by back, and forward does not restore it.
  await openMenu();
  await page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await page.goBack();
  await expect(page).toHaveURL("/app");
  await page.goForward();
  await expect(page).toHaveURL(chat);
  await page.goForward();
  await expect(page).toHaveURL(chat);
  await expect(menu).toHaveCount(0);

  // After a reload with an open layer, the page is shown without it, and back goes to the former page.
  await choose(texts.chat.search);
  await expect(field).toBeVisible();
  await page.reload();
  await expect(phone.message("Mbote")).toBeVisible();
  await expect(field).toHaveCount(0);
  // A menu entry that navigates adds no extra step to the history.
  await choose(texts.chat.viewContact);
  await page.waitForURL(`**/app/user/${ben.id}`);
  await page.goBack();
  await expect(page).toHaveURL(chat);
  await expect(phone.message("Mbote")).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL("/app");
  await phone.close();
});

test("one toast at a time, for five seconds; the language persists", async ({ browser, server }) => {
  const ana = await makePerson(toSite(server), 709);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await page.getByRole("link", { name: texts.shell.myProfile }).click();
  await expect(page.getByRole("main").getByText(ana.username)).toBeVisible();
  await expect(page.getByRole("main").getByText(ana.phone)).toBeVisible();
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

test("signing out shows a message and removes all local data; a failure keeps the user signed in", async ({
  browser,
  server,
}) => {
  const ana = await makePerson(toSite(server), 710);
  const phone = await TestClient.open(browser, server);
  const { page, texts, context } = phone;
  await phone.logIn(ana.phone);
  const otherDevice = await TestClient.open(browser, server, "pt");
  await otherDevice.logIn(ana.phone);
  const { emptyTitle } = otherDevice.texts.masolo;
  await expect(otherDevice.page.getByText(emptyTitle)).toBeVisible();
  await page.goto("/app/profile");
  const signOut = page.getByRole("button", { name: texts.profile.signOut, exact: true });
  const everywhere = page.getByRole("button", { name: texts.profile.signOutAll, exact: true });
  // The screen says before any action that the other devices stay signed in.
  await expect(signOut).toHaveAccessibleDescription(texts.profile.signOutHere);
  await context.route("**/api/auth/logout*", (route) =>
    route.fulfill({ status: 500, json: { code: 500, error_code: "internal", msg: "" } }),
  );
  await signOut.click();
  const refused = page.getByRole("alert").filter({ hasText: texts.auth.signOutFailed });
  await expect(refused).toContainText("Une erreur s'est produite");
  await expect(page).toHaveURL("/app/profile");
  await context.unroute("**/api/auth/logout*");
  // React hydrates the prerendered welcome page; only then a toast appears on it.
  const problems: string[] = [];
  page.on("console", (line) => line.type() === "error" && problems.push(line.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await signOut.click();
  await expect(page).toHaveURL("/");
  await expect(page.getByText("Déconnexion réussie")).toBeVisible();
  expect(problems).toEqual([]);
  const databases = () => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  await expect.poll(databases).toEqual([]);
  await page.goto("/app");
  await expect(page).toHaveURL(/\/login$/);
  // The other device stays signed in until its user ends all sessions.
  await otherDevice.page.reload();
  await expect(otherDevice.page.getByText(emptyTitle)).toBeVisible();
  await phone.logIn(ana.phone);
  await page.goto("/app/profile");
  await everywhere.click();
  await expect(page).toHaveURL("/");
  await expect(otherDevice.page).toHaveURL(/\/login$/);
  await expect(otherDevice.page.getByText(otherDevice.texts.auth.sessionEnded)).toBeVisible();
  await otherDevice.close();
  await phone.close();
});

test("signing out offline removes all local data at once, and ends the session once there is a network", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 717), await makePerson(site, 718)];
  const phone = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts, context } = phone;
  await phone.logIn(ana.phone);
  await waitForOfflineReady(page);
  await page.goto("/app/profile");
  const databases = () => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  const devices = async () => {
    const { body } = await callSite(site, "GET", "/api/auth/sessions", { token: ana.token });
    return (body as { devices: unknown[] }).devices.length;
  };
  expect(await devices()).toBe(2);
  await context.setOffline(true);
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await expect(page).toHaveURL("/");
  await expect(page.getByText(texts.auth.signedOutOffline)).toBeVisible();
  await expect.poll(databases).toEqual([]);
  // It does not open again, although its cookies are still there.
  await page.goto("/app");
  await expect(page).toHaveURL(/\/login$/);
  await page.reload();
  await expect(page).toHaveURL(/\/login$/);
  expect(await devices()).toBe(2);
  await context.setOffline(false);
  await expect.poll(devices).toBe(1);
  await expect.poll(() => page.evaluate(() => Object.keys(localStorage))).not.toContain("pending-sign-out");
  // The next person signs in and stays signed in.
  await phone.logIn(ben.phone);
  await page.reload();
  await expect(page.getByText(texts.masolo.emptyTitle)).toBeVisible();
  await phone.close();
});

test("signing out first lists unsent content, in whichever tab it was written, and updates the list while it changes", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 711), await makePerson(site, 712)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["Mbote"]);
  const phone = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts, context } = phone;
  await phone.signIn(ana);
  await waitForOfflineReady(page);
  const other = await context.newPage();
  await phone.openChat(ben.id, other);
  await context.setOffline(true); // with a network the other devices would have the draft
  await phone.composer(other).fill("pas fini");
  await expect(phone.conversation(ben.username)).toContainText("pas fini");
  await page.getByRole("link", { name: texts.shell.myProfile }).click();
  const signOut = page.getByRole("button", { name: texts.profile.signOut, exact: true });
  const dialog = page.getByRole("alertdialog", { name: texts.profile.unsentTitle });
  const says = (what: string) => expect(dialog.getByText(fill(texts.profile.unsentBody, { what }))).toBeVisible();
  await signOut.click();
  await says("1 brouillon");
  await expect(dialog.getByText(texts.profile.signOutEverywhere)).toBeHidden();
  await expect(dialog.getByRole("button", { name: texts.profile.stay })).toBeFocused();

  await phone.write("pas encore parti", other);
  await expect(phone.ticks("pas encore parti", "sending", other)).toBeVisible();
  await says("1 message non envoyé");
  await phone.composer(other).fill("a".repeat(messageTextMaxLength + 1)); // stays on this device
  await says("1 message non envoyé et 1 brouillon");
  // A socket stays open without a network; the missing pong shows that it is dead.
  await expect(page.getByText(texts.shell.link.offline)).toBeVisible({ timeout: pongTimeoutMs * 2 });
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(signOut).toBeFocused();
  await signOut.click();
  await context.setOffline(false);
  await expect(phone.ticks("pas encore parti", "sent", other)).toBeVisible();
  await says("1 brouillon");
  // The other tab shows for a moment what happened, and it is true that nothing was kept.
  await Promise.all([
    expect(other.getByText(texts.auth.signedOutElsewhere)).toBeVisible(),
    dialog.getByRole("button", { name: texts.profile.signOutAnyway }).click(),
  ]);
  await expect(page).toHaveURL("/");
  await expect(other).toHaveURL(/\/login$/);
  await expect(other.getByText(texts.auth.sessionEnded)).toBeHidden();
  await expect
    .poll(() => other.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name)))
    .toEqual([]);
  // The call data price stored on the device belongs to no account.
  await expect.poll(() => other.evaluate(() => Object.keys(localStorage).sort())).toEqual(["call-price", "signed-out"]);
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
  const code = "**/assets/senga-screen-*.js";
  await context.route(code, (route) => route.abort());
  await phone.pressTab("senga");
  const missing = page.getByText(texts.shell.missing.title);
  await expect(missing).toBeVisible();
  const refused = page.waitForEvent("requestfailed", (request) => request.url().includes("/senga-screen-"));
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
