import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient, waitForWelcome } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

const someone = "01900000-0000-7000-8000-000000000001";

test("a visitor who opens a protected address is led to the sign-in page", async ({ page }) => {
  for (const path of ["/app", `/app/chat/${someone}`]) {
    await page.goto(path);
    await expect(page).toHaveURL(/\/login$/);
  }
});

test("an unknown address shows a message with its status, in the user's language; a navigation while the app renders for the first time is followed", async ({
  browser,
  server,
}) => {
  const phone = await TestClient.open(browser, server, "pt");
  const { page, texts } = phone;
  const failures: Error[] = [];
  page.on("pageerror", (failure) => failures.push(failure));
  await phone.signIn(await makePerson(toSite(server), 706));
  for (const path of ["/app/nowhere", "/nowhere"]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { name: texts.shell.error.title })).toBeVisible();
    await expect(page.getByText("404 Not Found")).toBeVisible();
    if (path === "/nowhere") expect(await findAxeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: texts.shell.error.home }).click();
    await expect(page.getByRole("heading", { name: texts.masolo.title })).toBeVisible();
  }
  expect(failures).toEqual([]);

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

test("going back closes layers above a page first, one at a time, then the page, and the list returns to its scroll position", async ({
  browser,
  server,
}) => {
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
  await expect(oldest).toBeInViewport();
  // A list that is scrolled while its rows appear can be at a fraction of a pixel, which the browser stores rounded.
  await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(2);

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
  await page.waitForURL(`**/app/user/${others[0]?.id}`);
  await page.goBack();
  await expect(page).toHaveURL(chat);
  await expect(phone.message("Mbote")).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL("/app");
  await phone.close();
});
