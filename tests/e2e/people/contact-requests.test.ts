import { setTimeout as delay } from "node:timers/promises";
import type { Route } from "@playwright/test";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, findToast, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, phoneOf } from "#tests/support/people/people.ts";

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

test("a request appears on the other side, live, and accepting it makes both contacts", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 730), await makePerson(site, 731)];
  const anas = await TestClient.open(browser, server);
  const bens = await TestClient.open(browser, server, "en");
  await anas.signIn(ana);
  await bens.signIn(ben);
  await bens.goToTab("senga");
  await expect(bens.page.getByText(bens.texts.senga.noReceived.title)).toBeVisible();
  await anas.goToTab("senga");

  await search(anas, ben.phone);
  const results = anas.page.getByRole("list", { name: anas.texts.senga.results });
  await results.getByRole("button", { name: anas.texts.senga.add }).click();
  await expect(anas.page.getByRole("status").getByText(`Demande envoyée à ${ben.username}.`)).toBeVisible();
  await expect(results.getByRole("button", { name: "Demande envoyée" })).toBeDisabled();
  // The tabs by keyboard: an arrow key moves on and selects.
  await anas.page.getByRole("tab", { name: anas.texts.senga.received }).focus();
  await anas.page.keyboard.press("ArrowRight");
  await expect(anas.page.getByRole("tab", { name: anas.texts.senga.sent, selected: true })).toBeFocused();
  await expect(anas.page.getByRole("tabpanel").getByText(ben.username)).toBeVisible();
  await expect(anas.page.getByRole("tab", { name: anas.texts.senga.sent })).toContainText("1");
  expect(await findAxeViolations(anas.page)).toEqual([]);

  const bar = bens.page.getByRole("navigation", { name: bens.texts.shell.navigation });
  await expect(bar.getByText(fill(bens.texts.shell.received_one, { count: 1 }))).toBeAttached();
  expect(await findAxeViolations(bens.page)).toEqual([]);
  // Each toast is shown for a moment.
  const acceptedToast = anas.page.getByRole("status").getByText(`${ben.username} a accepté votre demande.`);
  const accepted = bens.page.getByText(fill(bens.texts.senga.requestAccepted, { name: ana.username }));
  await Promise.all([
    expect(acceptedToast).toBeVisible(),
    expect(accepted).toBeVisible(),
    bens.page.getByRole("button", { name: fill(bens.texts.senga.acceptName, { name: ana.username }) }).click(),
  ]);
  await expect(bens.page.getByText(bens.texts.senga.noReceived.title)).toBeVisible();
  await bens.goToTab("contacts");
  await expect(bens.page.getByRole("list", { name: bens.texts.contacts.title }).getByText(ana.username)).toBeVisible();

  // The requester sees it on the present screen.
  await expect(anas.page.getByText(anas.texts.senga.noSent.body)).toBeVisible();
  await results.getByRole("link", { name: fill(anas.texts.senga.messageName, { name: ben.username }) }).click();
  await expect(anas.composer()).toBeVisible();
  await anas.page.goto("/app/contacts");
  await expect(anas.page.getByRole("list", { name: anas.texts.contacts.title }).getByText(ben.username)).toBeVisible();
  await anas.close();
  await bens.close();
});

test("a declined request cannot be repeated at once; the person who declined may send one", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 732), await makePerson(site, 733)];
  const anas = await TestClient.open(browser, server);
  const bens = await TestClient.open(browser, server);
  await anas.signIn(ana);
  await bens.signIn(ben);
  await anas.goToTab("senga");
  await bens.goToTab("senga");
  const { texts } = anas;
  await search(anas, ben.phone);
  const add = anas.page.getByRole("button", { name: fill(texts.senga.addName, { name: ben.username }) });
  await add.click();
  await bens.page.getByRole("button", { name: fill(texts.senga.declineName, { name: ana.username }) }).click();
  await expect(bens.page.getByText(fill(texts.senga.requestDeclined, { name: ana.username }))).toBeVisible();
  await expect(bens.page.getByText(texts.senga.noReceived.title)).toBeVisible();
  await expect(add).toBeEnabled();
  await add.click();
  await expect(findToast(anas.page)).toContainText(texts.errors.request_declined);
  await expect(add).toBeEnabled();
  // The person who declined may send a request, and the other may accept it from a search as well.
  await search(bens, ana.phone);
  await bens.page
    .getByRole("list", { name: texts.senga.results })
    .getByRole("button", { name: fill(texts.senga.addName, { name: ana.username }) })
    .click();
  await anas.page
    .getByRole("list", { name: texts.senga.results })
    .getByRole("button", { name: fill(texts.senga.acceptName, { name: ben.username }) })
    .click();
  await expect(
    anas.page.getByRole("link", { name: fill(texts.senga.messageName, { name: ben.username }) }),
  ).toBeVisible();
  await anas.close();
  await bens.close();
});

test("by keyboard alone: the element that replaces a pressed button gets the focus", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben, cleo, dina] = [
    await makePerson(site, 738),
    await makePerson(site, 739),
    await makePerson(site, 742),
    await makePerson(site, 743),
  ];
  for (const { token } of [cleo, dina])
    await callSite(site, "POST", "/api/requests", { token, body: { to_user_id: ana.id } });
  const anas = await TestClient.open(browser, server);
  await anas.signIn(ana);
  await anas.goToTab("senga");
  const { page, texts } = anas;
  const pressOf = (name: string) => page.getByRole("button", { name }).press("Enter");

  // A sent request stays in its row.
  await search(anas, ben.phone);
  await pressOf(fill(texts.senga.addName, { name: ben.username }));
  const results = page.getByRole("list", { name: texts.senga.results });
  await expect(page.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();
  await expect(results.getByRole("listitem").filter({ hasText: ben.username })).toBeFocused();

  // A request accepted among the results becomes the link to the chat.
  await search(anas, dina.phone);
  await expect(results.getByText(dina.username)).toBeVisible();
  await results.getByRole("button", { name: fill(texts.senga.acceptName, { name: dina.username }) }).press("Enter");
  await expect(
    results.getByRole("link", { name: fill(texts.senga.messageName, { name: dina.username }) }),
  ).toBeFocused();

  // In the list the row disappears: the focus moves to the next one, and after the last to the tab.
  const eric = await makePerson(site, 744);
  await callSite(site, "POST", "/api/requests", { token: eric.token, body: { to_user_id: ana.id } });
  const received = page.getByRole("tabpanel").getByRole("listitem");
  await expect(received).toHaveCount(2);
  await pressOf(fill(texts.senga.declineName, { name: eric.username }));
  await expect(received).toHaveCount(1);
  await expect(received.filter({ hasText: cleo.username })).toBeFocused();
  await pressOf(fill(texts.senga.acceptName, { name: cleo.username }));
  await expect(page.getByRole("tab", { name: texts.senga.received })).toBeFocused();
  await anas.close();
});

test("the search needs three digits, finds at most ten people and never the user", async ({ browser, server }) => {
  const site = toSite(server);
  const ana = await makePerson(site, 7400);
  for (let n = 7401; n <= 7411; n++) await makePerson(site, n);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await phone.goToTab("senga");
  const refusal = "Veuillez entrer au moins 3 chiffres du numéro de téléphone.";
  for (const query of ["", "24", "  9 ", "+2-4"]) {
    await search(phone, query);
    await expect(page.getByRole("alert").getByText(refusal)).toBeVisible();
    await page.getByRole("searchbox").fill("1");
    await expect(page.getByText(refusal)).toHaveCount(0);
  }
  await search(phone, "abc"); // a handle
  await expect(page.getByRole("alert").getByText(texts.errors.invalid_handle)).toBeVisible();
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
  expect(await findAxeViolations(page)).toEqual([]);
  await search(phone, "999999999");
  await expect(page.getByText(texts.senga.noUsers.title)).toBeVisible();

  // A contact is found by name although nobody finds them by their number.
  const hidden = await makePerson(site, 7412);
  await connectPeople(site, ana, hidden);
  await page.route("**/api/people/search", (route) => route.fulfill({ json: [] }));
  await search(phone, hidden.phone);
  await expect(page.getByText(texts.senga.amongContacts_one)).toBeVisible();
  await expect(results.getByText(hidden.username)).toBeVisible();
  await phone.close();
});

test("a search without network says so, keeps the input and continues by itself", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 734), await makePerson(site, 735)];
  const phone = await TestClient.open(browser, server);
  const { page, texts, context } = phone;
  await phone.signIn(ana);
  await phone.goToTab("senga");
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
  await expect(page.getByRole("list", { name: texts.senga.results }).getByText(ben.username)).toBeVisible();
  // A request without a network is reported as failed, and can be repeated.
  await context.setOffline(true);
  const add = page.getByRole("button", { name: fill(texts.senga.addName, { name: ben.username }) });
  await add.click();
  await expect(page.getByRole("alert").getByText(texts.errors.offline)).toBeVisible();
  await context.setOffline(false);
  await add.click();
  await expect(page.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();
  await phone.close();
});

test("refusals of the server are shown in the user's language, with the seconds of a rate limit", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 736), await makePerson(site, 737)];
  const phone = await TestClient.open(browser, server, "pt");
  const { page, texts, context } = phone;
  await phone.signIn(ana);
  await phone.goToTab("senga");
  await search(phone, ben.phone);
  const add = page.getByRole("button", { name: fill(texts.senga.addName, { name: ben.username }) });
  await expect(add).toBeVisible();
  // Blocked on another device a moment before: it is refused whether this device knows of it or not.
  await callSite(site, "PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  await add.click();
  await expect(page.getByRole("alert").getByText(texts.errors.contact_blocked)).toBeVisible();
  await callSite(site, "DELETE", `/api/blocks/${ben.id}`, { token: ana.token });
  await add.click();
  await expect(page.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();

  await context.route("**/api/people/search", (route) =>
    route.fulfill({
      status: 429,
      headers: { "retry-after": "7" },
      json: { code: 429, error_code: "rate_limited", msg: "too many" },
    }),
  );
  await search(phone, phoneOf(7));
  await expect(page.getByText(fill(texts.shell.rateLimited_other, { count: 7 }))).toBeVisible();
  await phone.close();
});

test("a received request shows facts about its sender, no picture and no number, and can be blocked", async ({
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
  await callSite(site, "POST", "/api/requests", { token: ben.token, body: { to_user_id: ana.id } });
  const phone = await TestClient.open(browser, server);
  const { page } = phone;
  await phone.signIn(ana, "/app/senga");
  for (const language of ["fr", "en", "pt"] as const) {
    await phone.switchLanguage(language);
    const { texts } = phone;
    if (language !== "fr") await page.reload();
    const row = page.getByRole("tabpanel").getByRole("listitem").filter({ hasText: "Ben Kasongo" }).first();
    const month = new Intl.DateTimeFormat({ fr: "fr-FR", en: "en-GB", pt: "pt-PT" }[language], {
      month: "long",
      year: "numeric",
      timeZone: "UTC",
    }).format(Date.now());
    await expect(row.getByText(fill(texts.senga.context.since, { month }))).toBeVisible();
    await expect(row).toContainText({ fr: "Congo-Kinshasa", en: "Congo - Kinshasa", pt: "Congo-Kinshasa" }[language]);
    await expect(row).toContainText(texts.people.unverified);
    await expect(row.getByText(texts.senga.context.later, { exact: true })).toBeVisible();
    await expect(row.getByText(/Cléo Ilunga/)).toHaveText(
      fill(texts.senga.context.contacts_one, { count: 1, names: "Cléo Ilunga" }),
    );
    await expect(row).not.toContainText(formatPhone(ben.phone));
    await expect(row.locator("img")).toHaveCount(0);
    expect(await findAxeViolations(page)).toEqual([]);
    if (language === "pt") {
      // Without a network the month stays, which is known from the stored profile.
      await phone.context.setOffline(true);
      await expect(row.getByText(fill(texts.senga.context.since, { month }))).toBeVisible();
      await phone.context.setOffline(false);
      await page.getByRole("button", { name: fill(texts.people.blockName, { name: "Ben Kasongo" }) }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: texts.people.block }).click();
      await expect(page.getByText(texts.senga.noReceived.title)).toBeVisible();
    }
  }
  await phone.close();
});

test("in very large text the button that answers a request shows its whole word", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_936, "Ana Mbuyi"), await makePerson(site, 9_937, "Ben Kasongo")];
  await callSite(site, "POST", "/api/requests", { token: ben.token, body: { to_user_id: ana.id } });
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana, "/app/senga");
  const accept = page.getByRole("button", { name: fill(texts.senga.acceptName, { name: "Ben Kasongo" }) });
  const decline = page.getByRole("button", { name: fill(texts.senga.declineName, { name: "Ben Kasongo" }) });
  await expect(accept).toBeVisible();
  for (const px of ["26px", "32px"]) {
    await page.evaluate((size) => {
      document.documentElement.style.fontSize = size;
    }, px);
    const boxes = [await accept.boundingBox(), await decline.boundingBox()];
    const linePx = Number.parseFloat(px) * 1.5;
    for (const box of boxes) {
      expect(box?.height, px).toBeLessThan(2 * linePx);
      expect((box?.x ?? 0) + (box?.width ?? 0), px).toBeLessThanOrEqual(360);
    }
    const head = page.getByRole("main").getByRole("heading", { level: 1 });
    expect((await head.boundingBox())?.y, px).toBeGreaterThanOrEqual(4);
  }
  await phone.close();
});
