import { setTimeout as delay } from "node:timers/promises";
import type { Route } from "@playwright/test";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, findToast, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, phoneOf } from "#tests/support/people/people.ts";

const search = async (phone: TestClient, digits: string): Promise<void> => {
  const box = phone.page.getByRole("searchbox", { name: phone.texts.senga.searchLabel });
  await box.fill(digits);
  await box.press("Enter");
};

/** Digit by digit without a pause between two of them, however busy the machine is. */
const typeAtOnce = (field: HTMLElement, text: string): void => {
  const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
  for (let length = 1; length <= text.length; length++) {
    write?.call(field, text.slice(0, length));
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
};

test("a request appears on the other side, live; declined, it cannot be repeated at once, but the person who declined may send one, and accepting it makes both contacts", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 730), await makePerson(site, 731)];
  const anas = await TestClient.open(browser, server);
  const bens = await TestClient.open(browser, server, "en");
  const { page, texts } = anas;
  await anas.signIn(ana);
  await bens.signIn(ben);
  await bens.goToTab("senga");
  await expect(bens.page.getByText(bens.texts.senga.noReceived.title)).toBeVisible();
  await anas.goToTab("senga");

  await search(anas, ben.phone);
  const results = page.getByRole("list", { name: texts.senga.results });
  const add = results.getByRole("button", { name: fill(texts.senga.addName, { name: ben.username }) });
  await add.click();
  await expect(page.getByRole("status").getByText(`Demande envoyée à ${ben.username}.`)).toBeVisible();
  await expect(results.getByRole("button", { name: "Demande envoyée" })).toBeDisabled();
  // The tabs by keyboard: an arrow key moves on and selects.
  await page.getByRole("tab", { name: texts.senga.received }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("tab", { name: texts.senga.sent, selected: true })).toBeFocused();
  await expect(page.getByRole("tabpanel").getByText(ben.username)).toBeVisible();
  await expect(page.getByRole("tab", { name: texts.senga.sent })).toContainText("1");
  expect(await findAxeViolations(page)).toEqual([]);

  const bar = bens.page.getByRole("navigation", { name: bens.texts.shell.navigation });
  await expect(bar.getByText(fill(bens.texts.shell.received_one, { count: 1 }))).toBeAttached();
  await bens.page.getByRole("button", { name: fill(bens.texts.senga.declineName, { name: ana.username }) }).click();
  await expect(bens.page.getByText(fill(bens.texts.senga.requestDeclined, { name: ana.username }))).toBeVisible();
  await expect(bens.page.getByText(bens.texts.senga.noReceived.title)).toBeVisible();
  await expect(page.getByText(texts.senga.noSent.body)).toBeVisible();
  await expect(add).toBeEnabled();
  await add.click();
  await expect(findToast(page)).toContainText(texts.errors.request_declined);
  await expect(add).toBeEnabled();

  // The person who declined may send a request, and the other may accept it from a search as well.
  await search(bens, ana.phone);
  const bensResults = bens.page.getByRole("list", { name: bens.texts.senga.results });
  await bensResults.getByRole("button", { name: fill(bens.texts.senga.addName, { name: ana.username }) }).click();
  // Each toast is shown for a moment.
  const acceptedToast = bens.page.getByRole("status").getByText(`${ana.username} accepted your request.`);
  const accepted = page.getByText(fill(texts.senga.requestAccepted, { name: ben.username }));
  await Promise.all([
    expect(acceptedToast).toBeVisible(),
    expect(accepted).toBeVisible(),
    results.getByRole("button", { name: fill(texts.senga.acceptName, { name: ben.username }) }).click(),
  ]);
  await expect(
    results.getByRole("link", { name: fill(texts.senga.messageName, { name: ben.username }) }),
  ).toBeVisible();
  await anas.goToTab("contacts");
  await expect(page.getByRole("list", { name: texts.contacts.title }).getByText(ben.username)).toBeVisible();

  // The requester sees it on the present screen.
  await bensResults.getByRole("link", { name: fill(bens.texts.senga.messageName, { name: ana.username }) }).click();
  await expect(bens.composer()).toBeVisible();
  await bens.openRoute("/app/contacts");
  await expect(bens.page.getByRole("list", { name: bens.texts.contacts.title }).getByText(ana.username)).toBeVisible();
  await anas.close();
  await bens.close();
});

test("a received request shows facts about its sender, no picture and no number, fits very large text and can be blocked; by keyboard alone the element that replaces a pressed button gets the focus", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7_720, "Ana Mbuyi"), await makePerson(site, 7_721, "Ben Kasongo")];
  const cleo = await makePerson(site, 7_722, "Cléo Ilunga");
  for (const person of [ana, ben]) await connectPeople(site, cleo, person);
  await site.fetch(`${site.origin}/api/profile/avatar`, {
    method: "PUT",
    headers: { authorization: `Bearer ${ben.token}`, "content-type": "image/png" },
    body: new Uint8Array(onePixelPng),
  });
  const ask = ({ token }: Person) => callSite(site, "POST", "/api/requests", { token, body: { to_user_id: ana.id } });
  await ask(ben);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana, "/app/senga");
  const received = page.getByRole("tabpanel").getByRole("listitem");
  const row = received.filter({ hasText: "Ben Kasongo" }).first();
  const format = new Intl.DateTimeFormat("fr-FR", { month: "long", year: "numeric", timeZone: "UTC" });
  const since = row.getByText(fill(texts.senga.context.since, { month: format.format(Date.now()) }));
  await expect(since).toBeVisible();
  await expect(row).toContainText("Congo-Kinshasa");
  await expect(row).toContainText(texts.people.unverified);
  await expect(row.getByText(texts.senga.context.later, { exact: true })).toBeVisible();
  await expect(row.getByText(/Cléo Ilunga/)).toHaveText(
    fill(texts.senga.context.contacts_one, { count: 1, names: "Cléo Ilunga" }),
  );
  await expect(row).not.toContainText(formatPhone(ben.phone));
  await expect(row.locator("img")).toHaveCount(0);
  expect(await findAxeViolations(page)).toEqual([]);

  // In very large text the buttons show their whole words.
  const setText = (size: string) =>
    page.evaluate((fontSize) => {
      document.documentElement.style.fontSize = fontSize;
    }, size);
  for (const px of ["26px", "32px"]) {
    await setText(px);
    const linePx = Number.parseFloat(px) * 1.5;
    for (const name of [texts.senga.acceptName, texts.senga.declineName]) {
      const box = await page.getByRole("button", { name: fill(name, { name: "Ben Kasongo" }) }).boundingBox();
      expect(box?.height, px).toBeLessThan(2 * linePx);
      expect((box?.x ?? 0) + (box?.width ?? 0), px).toBeLessThanOrEqual(360);
    }
    const head = page.getByRole("main").getByRole("heading", { level: 1 });
    expect((await head.boundingBox())?.y, px).toBeGreaterThanOrEqual(4);
  }
  await setText("");

  // Without a network the month stays, which is known from the stored profile.
  await phone.context.setOffline(true);
  await expect(since).toBeVisible();
  await phone.context.setOffline(false);
  await page.getByRole("button", { name: fill(texts.people.blockName, { name: "Ben Kasongo" }) }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.people.block }).click();
  await expect(page.getByText(texts.senga.noReceived.title)).toBeVisible();

  // By keyboard, a sent request stays in its row.
  const [dina, eric, fred, gil] = [
    await makePerson(site, 738),
    await makePerson(site, 739),
    await makePerson(site, 742),
    await makePerson(site, 743),
  ];
  const pressOf = (name: string) => page.getByRole("button", { name }).press("Enter");
  await search(phone, gil.phone);
  await pressOf(fill(texts.senga.addName, { name: gil.username }));
  const results = page.getByRole("list", { name: texts.senga.results });
  await expect(page.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();
  await expect(results.getByRole("listitem").filter({ hasText: gil.username })).toBeFocused();

  // A request accepted among the results becomes the link to the chat.
  for (const person of [fred, dina]) await ask(person);
  await search(phone, dina.phone);
  await results.getByRole("button", { name: fill(texts.senga.acceptName, { name: dina.username }) }).press("Enter");
  await expect(
    results.getByRole("link", { name: fill(texts.senga.messageName, { name: dina.username }) }),
  ).toBeFocused();

  // In the list the row disappears: the focus moves to the next one, and after the last to the tab.
  await ask(eric);
  await expect(received).toHaveCount(2);
  await pressOf(fill(texts.senga.declineName, { name: eric.username }));
  await expect(received).toHaveCount(1);
  await expect(received.filter({ hasText: fred.username })).toBeFocused();
  await pressOf(fill(texts.senga.acceptName, { name: fred.username }));
  await expect(page.getByRole("tab", { name: texts.senga.received })).toBeFocused();
  await phone.close();
});

test("the search needs three digits, finds at most ten people and never the user; without a network it says so and continues by itself, and refusals are shown in the user's language", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7400), await makePerson(site, 7412)];
  for (let n = 7401; n <= 7411; n++) await makePerson(site, n);
  const phone = await TestClient.open(browser, server, "pt");
  const { page, texts, context } = phone;
  await phone.signIn(ana);
  await phone.goToTab("senga");
  const alert = page.getByRole("alert");
  const refusal = texts.errors.query_too_short;
  for (const query of ["", "24", "  9 ", "+2-4"]) {
    await search(phone, query);
    await expect(alert.getByText(refusal)).toBeVisible();
    await page.getByRole("searchbox").fill("1");
    await expect(page.getByText(refusal)).toHaveCount(0);
  }
  await search(phone, "abc"); // a handle
  await expect(alert.getByText(texts.errors.invalid_handle)).toBeVisible();
  const asked: string[] = [];
  page.on("request", (request) => request.url().endsWith("/api/people/search") && asked.push(request.url()));
  // One search for a number typed digit by digit, after the pause; Enter on the same number sends no other.
  await page.getByRole("searchbox").evaluate(typeAtOnce, "+243 81 000");
  const results = page.getByRole("list", { name: texts.senga.results });
  await expect(results.getByRole("listitem")).toHaveCount(10);
  await expect(results.getByText(formatPhone(ana.phone))).toHaveCount(0);
  await page.getByRole("searchbox").press("Enter");
  await expect(results.getByRole("listitem")).toHaveCount(10);
  expect(asked).toHaveLength(1);
  await search(phone, "999999999");
  await expect(page.getByText(texts.senga.noUsers.title)).toBeVisible();

  // Without a network the input stays.
  await context.setOffline(true);
  await search(phone, ben.phone);
  await expect(page.getByText(texts.senga.offline)).toBeVisible();
  await expect(page.getByRole("searchbox")).toHaveValue(ben.phone);
  // The browser reports the network before requests get through: the first request is lost after the link is back.
  await expect(page.getByText(texts.shell.link.offline)).toBeVisible();
  const isLost = async (route: Route) => {
    await delay(1_500);
    await route.abort("internetdisconnected");
  };
  await page.route("**/api/people/search", isLost, { times: 2 });
  await context.setOffline(false);
  await expect(results.getByText(ben.username)).toBeVisible();
  // A request without a network is reported as failed, and can be repeated.
  await context.setOffline(true);
  const add = page.getByRole("button", { name: fill(texts.senga.addName, { name: ben.username }) });
  await add.click();
  await expect(alert.getByText(texts.errors.offline)).toBeVisible();
  await context.setOffline(false);

  // Blocked on another device a moment before: it is refused whether this device knows of it or not.
  await callSite(site, "PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  await add.click();
  await expect(alert.getByText(texts.errors.contact_blocked)).toBeVisible();
  await callSite(site, "DELETE", `/api/blocks/${ben.id}`, { token: ana.token });
  await add.click();
  await expect(page.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();

  // A rate limit is shown with its seconds.
  await page.route("**/api/people/search", (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "7" },
      json: { code: 429, error_code: "rate_limited", msg: "too many" },
    }),
  );
  await search(phone, phoneOf(7));
  await expect(page.getByText(fill(texts.shell.rateLimited_other, { count: 7 }))).toBeVisible();

  // A contact is found by name although nobody finds them by their number.
  const hidden = await makePerson(site, 734);
  await connectPeople(site, ana, hidden);
  await page.route("**/api/people/search", (route) => route.fulfill({ json: [] }));
  await search(phone, hidden.phone);
  await expect(page.getByText(texts.senga.amongContacts_one)).toBeVisible();
  await expect(results.getByText(hidden.username)).toBeVisible();
  await phone.close();
});
