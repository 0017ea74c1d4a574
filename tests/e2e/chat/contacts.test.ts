import { formatPhone } from "#contract/phone/phone-text.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, nameOf, type Person } from "#tests/support/people/people.ts";

test("contacts are found by name without case or accents and by number; each opens its chat and its profile", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 750);
  const elodie = await makePerson(site, 751, "Élodie Ngoma");
  const arabic = await makePerson(site, 752, "محمد علي");
  const phone = await TestClient.open(browser, server, "fr", withServiceWorker);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await phone.goToTab("contacts");
  await expect(page.getByText(texts.contacts.none.title)).toBeVisible();
  await connectPeople(site, elodie, ana);
  await connectPeople(site, ana, arabic);

  const list = page.getByRole("list", { name: texts.contacts.title });
  await expect(list.getByRole("listitem")).toHaveCount(2);
  const search = page.getByRole("searchbox", { name: texts.contacts.searchLabel });
  for (const query of ["ELODIE", "ngo", "+243 81 000 07 51", "\u202a+243810000751\u202c", "0751", "٠٧٥١"]) {
    await search.fill(query);
    await expect(list.getByRole("listitem")).toHaveCount(1);
    await expect(list.getByText("Élodie Ngoma")).toBeVisible();
  }
  await search.fill("محمد");
  await expect(list.getByText(formatPhone(arabic.phone))).toBeVisible();
  await search.fill("zzz");
  await expect(page.getByText(texts.contacts.noMatch.title)).toBeVisible();
  await page.getByRole("button", { name: texts.common.clear }).click();
  await expect(list.getByRole("listitem")).toHaveCount(2);
  await expect(search).toBeFocused();

  // Four buttons each, two of them for calls.
  const row = list.getByRole("listitem").filter({ hasText: "Élodie Ngoma" });
  await expect(row.getByRole("button")).toHaveCount(3);
  for (const name of [texts.people.audioCallName, texts.people.videoCallName])
    await expect(row.getByRole("button", { name: fill(name, { name: "Élodie Ngoma" }) })).toBeEnabled();
  await page.getByRole("button", { name: texts.contacts.menu }).click();
  await page.getByRole("menuitem", { name: texts.blocked.title }).click();
  await expect(page.getByText("Vous n'avez bloqué aucun contact.")).toBeVisible();
  await page.goBack();
  await page.getByRole("link", { name: fill(texts.contacts.viewProfile, { name: "Élodie Ngoma" }) }).click();
  await expect(page).toHaveURL(`/app/user/${elodie.id}`);
  const number = page.getByRole("main").getByText(formatPhone(elodie.phone)).first();
  await expect(number).toBeVisible();
  // A press selects the whole number, which is copied without its spaces.
  await phone.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await number.click();
  await page.keyboard.press("Control+C");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(elodie.phone);
  await page.getByRole("link", { name: texts.people.message, exact: true }).click();
  await expect(page).toHaveURL(`/app/chat/${elodie.id}`);
  await expect(phone.composer()).toBeVisible();

  // Everything works without a network, after one visit.
  await waitForOfflineReady(page);
  await phone.context.setOffline(true);
  await page.goto("/app/contacts");
  await expect(list.getByRole("listitem")).toHaveCount(2);
  await list.getByText("Élodie Ngoma").click();
  await expect(page).toHaveURL(`/app/chat/${elodie.id}`);
  await expect(phone.composer()).toBeVisible();
  await phone.close();
});

/** Deletes a contact on the screen of contacts: asked by name, cancelled, failing and done. */
const deleteContact = async (phone: TestClient, contact: Person): Promise<void> => {
  const { context, page, texts } = phone;
  await phone.openRoute("/app/contacts");
  const remove = page.getByRole("button", { name: fill(texts.contacts.deleteName, { name: contact.username }) });
  const dialog = page.getByRole("alertdialog", {
    name: fill(texts.contacts.deleteTitle, { name: contact.username }),
  });
  // By keyboard only: open, stay inside, leave, and the focus returns.
  await remove.focus();
  await page.keyboard.press("Enter");
  await expect(dialog).toBeVisible();
  await expect(dialog).toContainText(contact.username);
  await expect(dialog.getByRole("button", { name: texts.common.cancel })).toBeFocused();
  expect(await findAxeViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(remove).toBeFocused();

  // While the request is delayed, the button shows progress and cannot be pressed; then it fails, and nothing is lost.
  let fail = () => {};
  const held = new Promise<void>((resolve) => {
    fail = resolve;
  });
  await context.route("**/api/contacts/*", async (route) => {
    await held;
    await route.abort();
  });
  await remove.click();
  await dialog.getByRole("button", { name: texts.common.delete }).click();
  await expect(dialog).toBeHidden();
  await expect(remove).toBeDisabled();
  await expect(remove).toHaveAttribute("aria-busy", "true");
  fail();
  await expect(page.getByRole("alert").getByText(texts.contacts.deleteContactError)).toBeVisible();
  await expect(remove).toBeEnabled();
  await context.unroute("**/api/contacts/*");

  await remove.click();
  await dialog.getByRole("button", { name: texts.common.delete }).click();
  await expect(page.getByRole("status").getByText(texts.contacts.contactDeleted)).toBeVisible();
  await expect(page.getByText(texts.contacts.none.title)).toBeVisible();
};

test("a profile shows a person's data or why it cannot, and a contact is deleted after a question, on both sides", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo] = [await makePerson(site, 755), await makePerson(site, 756), await makePerson(site, 757)];
  await connectPeople(site, ana, ben);
  const anas = await TestClient.open(browser, server, "en");
  const { page, texts } = anas;
  await anas.signIn(ana);

  // One's own id opens one's own profile. An unknown id has no profile, also if the first request was lost.
  await anas.openRoute(`/app/user/${ana.id}`);
  await expect(page).toHaveURL("/app/profile");
  await anas.openRoute("/app/user/personne");
  await expect(page.getByText("No profile data found.")).toBeVisible();
  const nobody = crypto.randomUUID();
  await anas.context.route(`**/api/users/${nobody}`, (route) => route.abort(), { times: 2 });
  await anas.openRoute(`/app/user/${nobody}`);
  await expect(page.getByText("No profile data found.")).toBeVisible();
  // A failing server is asked again.
  await anas.context.route(`**/api/users/${cleo.id}`, (route) => route.fulfill({ status: 503, body: "" }));
  await anas.openRoute(`/app/user/${cleo.id}`);
  await expect(page.getByText("Failed to load profile.")).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);
  await anas.context.unroute(`**/api/users/${cleo.id}`);
  await page.getByRole("button", { name: texts.common.retry }).click();
  await expect(page.getByText("No profile data found.")).toBeVisible();

  // A contact: picture enlarged by keyboard, number, date, mute and block from here.
  await anas.openRoute(`/app/user/${ben.id}`);
  const main = page.getByRole("main");
  await main.getByRole("button", { name: fill(texts.contacts.person.enlarge, { name: ben.username }) }).focus();
  await page.keyboard.press("Enter");
  const picture = page.getByRole("dialog", { name: fill(texts.contacts.person.picture, { name: ben.username }) });
  await expect(picture).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(picture).toHaveCount(0);
  const year = String(new Date().getFullYear());
  await expect(main.getByText(texts.contacts.person.since).locator("..")).toContainText(year);
  await expect(main.getByRole("link", { name: texts.people.message, exact: true })).toBeVisible();
  await main.getByRole("button", { name: texts.mute.on }).click();
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(page.getByRole("status").getByText(texts.mute.isOn)).toBeVisible();
  await main.getByRole("button", { name: texts.mute.off }).click();
  await expect(page.getByRole("status").getByText(texts.mute.isOff)).toBeVisible();
  await main.getByRole("button", { name: fill(texts.people.blockName, { name: ben.username }) }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.people.block, exact: true }).click();
  await expect(page).toHaveURL("/app");
  await anas.openRoute(`/app/user/${ben.id}`);
  await main.getByRole("button", { name: fill(texts.people.unblockName, { name: ben.username }) }).click();
  const blockName = fill(texts.people.blockName, { name: ben.username });
  const block = main.getByRole("button", { name: blockName, exact: true }); // not "Unblock …"
  await expect(block).toBeVisible();

  // A user who navigated elsewhere is told on the present screen.
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await anas.context.route("**/api/blocks/**", (route) => held.then(() => route.continue()));
  await block.click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.people.block, exact: true }).click();
  await main.getByRole("link", { name: texts.people.message, exact: true }).click();
  await expect(anas.composer()).toBeVisible();
  release();
  await expect(main.getByRole("status").getByText(`You blocked ${ben.username}.`)).toBeVisible();
  await expect(page).toHaveURL(`/app/chat/${ben.id}`);
  await anas.context.unroute("**/api/blocks/**");
  await anas.openRoute(`/app/user/${ben.id}`);
  await main.getByRole("button", { name: fill(texts.people.unblockName, { name: ben.username }) }).click();
  await expect(block).toBeVisible();

  await deleteContact(anas, ben);
  const seenByBen = await callSite(site, "GET", `/api/users/${ana.id}`, { token: ben.token });
  expect(seenByBen.status).toBe(404);
  // The other person deletes it, too: it leaves the list at once.
  await connectPeople(site, ben, ana);
  await expect(main.getByText(formatPhone(ben.phone))).toBeVisible();
  await callSite(site, "DELETE", `/api/contacts/${ana.id}`, { token: ben.token });
  await expect(page.getByText(texts.contacts.none.title)).toBeVisible();

  // A profile that is open changes at once: actions that need a connection say so, and a request can be sent.
  await connectPeople(site, ben, ana);
  await anas.openRoute(`/app/user/${ben.id}`);
  await expect(main.getByText(texts.contacts.person.since)).toBeVisible();
  await callSite(site, "DELETE", `/api/contacts/${ana.id}`, { token: ben.token });
  await expect(main.getByText(texts.people.notConnected)).toBeVisible();
  for (const action of [texts.people.message, texts.people.audioCall, texts.people.videoCall]) {
    await main.getByRole("button", { name: action, exact: true }).click();
    // Check both at once: a toast disappears after five seconds.
    await expect(page.getByRole("alert")).toContainText(`Not Connected${texts.people.notConnected}`);
  }
  await main.getByRole("button", { name: texts.chat.findPeople }).click();
  await expect(main.getByRole("button", { name: texts.senga.requestSent })).toBeDisabled();
  await expect(main.getByText(texts.people.notConnected)).toHaveCount(0); // it asks for a request

  // The longest action label fits on the narrowest screen.
  await anas.switchLanguage("pt");
  await page.reload();
  const videoCall = page.getByRole("button", { name: anas.texts.people.videoCall, exact: true });
  await expect(videoCall).toBeVisible();
  const lines = await videoCall.evaluate((button) => {
    const label = document.createRange();
    label.selectNodeContents([...button.childNodes].find(({ nodeType }) => nodeType === Node.TEXT_NODE) ?? button);
    const { left, right } = button.getBoundingClientRect();
    return [...label.getClientRects()].map((line) => line.left >= left + 2 && line.right <= right - 2);
  });
  expect(lines).toEqual([true]);
  await anas.close();
});

test("of very many contacts only those near the screen are rendered, and all can be reached", async ({
  browser,
  server,
}) => {
  const contactsCount = 60;
  const site = toSite(server);
  const ana = await makePerson(site, 7600);
  const numbers = Array.from({ length: contactsCount }, (_, i) => 7601 + i);
  const people = await Promise.all(numbers.map((n) => makePerson(site, n)));
  // One after the other: the number of pending requests of new accounts to one person is limited.
  for (const person of people) await connectPeople(site, person, ana);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  await phone.goToTab("contacts");
  const list = page.getByRole("list", { name: texts.contacts.title });
  const rows = list.getByRole("listitem");
  await expect(rows.first()).toHaveAttribute("aria-setsize", String(contactsCount));
  expect(await rows.count()).toBeLessThan(contactsCount / 2);
  await list.hover();
  await page.mouse.wheel(0, 100_000);
  await expect(list.getByText(nameOf(7_600 + contactsCount))).toBeVisible();
  await phone.close();
});
