import type { Page } from "@playwright/test";
import { formatPhone, maskToLastDigits } from "#contract/phone/phone-text.ts";
import { findAxeViolations, findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person } from "#tests/support/people/people.ts";
import { seedUsers } from "#tests/support/server/seeded-users.ts";

const onePicture = { name: "famille.png", mimeType: "image/png", buffer: onePixelPng };
const expectNoFaults = async (page: Page) => expect(await findAxeViolations(page)).toEqual([]);
const choir = "Anciens choristes du collège Saint-Joseph de Kinshasa-Gombe";
const plain = (text: string): string => text.replaceAll("\u00a0", " "); // normalised as names are compared

test("the owner changes a group and its members see it at once; a member who leaves or is removed is redirected; the pages fit text of twice the size", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const ana = await makePerson(site, 9110);
  const ben = await makePerson(site, 9111, "Béatrice Lukusa Kabongo Tshilombo");
  const [cleo, dan] = [await makePerson(site, 9112), await makePerson(site, 9113)];
  for (const other of [ben, cleo, dan]) await connectPeople(site, ana, other);
  const group = await makeGroup(site, ana, "Chorale", [ben, cleo]);
  const members = `/app/group/${group}/members`;
  const [anas, bens] = [await TestClient.open(browser, server, "pt"), await TestClient.open(browser, server, "en")];
  const { page, texts } = anas;
  await anas.signIn(ana, `/app/group/${group}`);
  await bens.signIn(ben, members);
  await page.getByRole("heading", { level: 1 }).getByRole("link").click();
  await expect(page).toHaveURL(members);
  const expectToast = (text: string, on = page) => expect(on.getByRole("status").getByText(plain(text))).toBeVisible();
  const lines = page
    .getByRole("list", { name: fill(texts.groups.chat.members_other, { count: 3 }) })
    .getByRole("listitem");
  await expect(lines).toHaveCount(3);
  await expect(lines.first()).toContainText(
    `${ana.username}(${texts.common.you})${formatPhone(ana.phone)}${texts.groups.owner}`,
  );
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);
  await expectNoFaults(bens.page);

  // A member can only read, mute, clear and leave; a member who is no contact is shown as well.
  const bensPage = bens.page;
  await expect(bensPage.getByText(cleo.username)).toBeVisible();
  await expect(
    bensPage.getByRole("button", { name: fill(bens.texts.groups.page.memberMenu, { name: cleo.username }) }),
  ).toHaveCount(0);
  await expect(bensPage.getByRole("button", { name: bens.texts.groups.rename.action })).toHaveCount(0);
  await bensPage.getByRole("button", { name: bens.texts.mute.on }).click();
  await bensPage.getByRole("button", { name: bens.texts.mute.for.always, exact: true }).click();
  await expectToast(bens.texts.mute.isOn, bensPage);
  await expect(bensPage.getByRole("button", { name: bens.texts.mute.off })).toBeVisible();
  await bensPage.getByText(cleo.username).click();
  await expect(bensPage).toHaveURL(`/app/user/${cleo.id}`);
  await expect(bensPage.getByRole("main").getByText(maskToLastDigits(cleo.phone)).first()).toBeVisible();
  await bensPage.getByRole("button", { name: bens.texts.chat.findPeople }).click();
  await expect(bensPage.getByRole("button", { name: bens.texts.senga.requestSent })).toBeDisabled();
  await bensPage.getByRole("link", { name: bens.texts.common.back }).click();
  await expect(bensPage).toHaveURL(members);

  // Name and picture.
  await page.getByRole("button", { name: texts.groups.rename.action }).click();
  const rename = page.getByRole("dialog", { name: texts.groups.rename.action });
  await expect(rename.getByRole("textbox")).toBeFocused();
  await rename.getByRole("textbox").fill(" ");
  await page.keyboard.press("Enter");
  await expect(rename).toContainText(texts.groups.create.nameMissing);
  await expect(page.getByRole("alert").getByText(texts.groups.create.nameMissing)).toBeVisible();
  await rename.getByRole("textbox").fill(choir);
  await page.keyboard.press("Enter");
  await expectToast(fill(texts.groups.rename.done, { name: choir }));
  await expect(rename).toHaveCount(0);
  await expect(bensPage.getByText(choir, { exact: true })).toBeVisible();
  // With text of twice the size, the pages of groups fit the narrow screen.
  const setTextSize = (size: string) =>
    page.evaluate((size) => document.documentElement.style.setProperty("font-size", size), size);
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  await setTextSize("200%");
  await expect(page.getByText(ben.username)).toBeAttached();
  expect(await fits()).toBe(true);
  await page.getByRole("button", { name: fill(texts.groups.page.memberMenu, { name: ben.username }) }).click();
  await expect(page.getByRole("menuitem", { name: texts.groups.remove.action })).toBeInViewport({ ratio: 1 });
  await page.keyboard.press("Escape");
  await anas.openRoute("/app/create-group");
  await expect(page.getByRole("button", { name: texts.groups.create.submit })).toBeInViewport({ ratio: 1 });
  await page.getByText(ben.username).click();
  await expect(page.getByRole("checkbox", { name: ben.username })).toBeChecked();
  expect(await fits()).toBe(true);
  await setTextSize("");
  await anas.openRoute(members);
  await expect(lines).toHaveCount(3);
  // A slow picture upload delays nothing else.
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await anas.context.route("**/api/groups/*/picture", (route) => held.then(() => route.continue()));
  await page.locator("input[type=file]").setInputFiles(onePicture);
  await expect(page.getByRole("main").getByRole("status").filter({ hasText: texts.common.loading })).toBeVisible();
  await page.getByRole("button", { name: texts.mute.on }).click();
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expectToast(texts.mute.isOn);
  letOn();
  await expectToast(texts.groups.picture.done);
  await anas.context.unroute("**/api/groups/*/picture");
  const enlarge = bensPage.getByRole("button", {
    name: fill(bens.texts.contacts.person.enlarge, { name: choir }),
  });
  await expect(enlarge).toBeVisible();
  await page.getByRole("button", { name: texts.groups.create.changePicture }).click();
  await page.getByRole("menuitem", { name: texts.groups.picture.remove }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.groups.picture.removeConfirm }).click();
  await expectToast(texts.groups.picture.removed);
  await expect(enlarge).toHaveCount(0);

  // Adding members: present members are not offered. A failure keeps the selection.
  await page.getByRole("button", { name: texts.groups.add.action, exact: true }).click();
  const sheet = page.getByRole("dialog", { name: texts.groups.add.title });
  await expect(sheet.getByRole("checkbox")).toHaveCount(1);
  await sheet.getByRole("checkbox", { name: dan.username }).check({ force: true });
  const add = sheet.getByRole("button", { name: fill(texts.groups.add.submit_one, { count: 1 }) });
  await anas.context.route("**/api/groups/*/members", (route) => route.fulfill({ status: 503, body: "" }));
  await add.click();
  // Shown in the sheet, which covers the page.
  await expect(sheet.getByRole("alert")).toContainText(`${texts.groups.add.failed} ${texts.errors.unavailable}`);
  await anas.context.unroute("**/api/groups/*/members");
  await add.click();
  await expectToast(fill(texts.groups.add.done_one, { count: 1 }));
  await expect(bensPage.getByText(dan.username)).toBeVisible();

  // Removing: the confirmation can be cancelled; the removed member is redirected.
  const menuOf = async (memberName: string, item: string) => {
    await page.getByRole("button", { name: fill(texts.groups.page.memberMenu, { name: memberName }) }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const question = page.getByRole("alertdialog");
  await menuOf(ben.username, texts.groups.remove.action);
  await expect(question.getByRole("button", { name: texts.common.cancel })).toBeFocused();
  await expectNoFaults(page);
  await page.keyboard.press("Escape");
  await expect(question).toHaveCount(0);
  await menuOf(ben.username, texts.groups.remove.action);
  // Each toast is shown for a moment.
  await Promise.all([
    expectToast(fill(texts.groups.remove.done, { name: ben.username })),
    expectToast(fill(bens.texts.groups.chat.left, { name: choir }), bensPage),
    question.getByRole("button", { name: texts.groups.remove.confirm }).click(),
  ]);
  await expect(page.getByText(formatPhone(ben.phone))).toHaveCount(0);
  await expect(bensPage).toHaveURL("/app");

  // Transferred to Ben, who is a member again: the rights change on both clients.
  const again = { token: ana.token, body: { members: [ben.id] } };
  expect((await callSite(site, "POST", `/api/groups/${group}/members`, again)).status).toBe(200);
  await expect(bens.conversation(choir)).toContainText(fill(bens.texts.groups.events.addedMe, { name: ana.username }));
  await bens.conversation(choir).click();
  await bensPage.getByRole("heading", { level: 1 }).getByRole("link").click();
  await menuOf(ben.username, texts.groups.handOver.action);
  await question.getByRole("button", { name: texts.groups.handOver.confirm }).click();
  await expectToast(fill(texts.groups.handOver.done, { name: ben.username }));
  const addOf = (phone: TestClient) =>
    phone.page.getByRole("button", { name: phone.texts.groups.add.action, exact: true });
  await expect(addOf(anas)).toHaveCount(0);
  await expect(addOf(bens)).toBeVisible();

  // An owner who leaves chooses a successor among those who are still members.
  const leave = async (member: Person) =>
    expect(
      (await callSite(site, "DELETE", `/api/groups/${group}/members/${member.id}`, { token: member.token })).status,
    ).toBe(204);
  await leave(cleo);
  await expect(bensPage.getByText(cleo.username)).toHaveCount(0);
  await bensPage.getByRole("button", { name: bens.texts.groups.leave.short, exact: true }).click();
  const heirs = bensPage.getByRole("dialog", { name: bens.texts.groups.leave.heirTitle });
  await expect(heirs.getByRole("button", { name: dan.username })).toBeVisible();
  await expect(heirs.getByRole("button", { name: cleo.username })).toHaveCount(0);
  await heirs.getByRole("button", { name: ana.username }).click();
  const bensQuestion = bensPage.getByRole("alertdialog");
  await expect(bensQuestion).toContainText(fill(bens.texts.groups.leave.bodyHeir, { heir: ana.username }));
  await bensQuestion.getByRole("button", { name: bens.texts.groups.leave.short }).click();
  await expect(bensPage).toHaveURL("/app");
  await expectToast(fill(bens.texts.groups.leave.done, { name: choir }), bensPage);
  await expect(bens.conversation(choir)).toContainText(bens.texts.groups.events.leftByMe);
  await expect(page.getByText(formatPhone(ben.phone))).toHaveCount(0);
  await expect(addOf(anas)).toBeVisible();

  // The last member is told that nobody can write any more, and ends it for all, also for who left.
  await leave(dan);
  await expect(page.getByText(formatPhone(dan.phone))).toHaveCount(0);
  await page.getByRole("button", { name: texts.groups.leave.short, exact: true }).click();
  await expect(question).toContainText(texts.groups.leave.bodyLast);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: texts.groups.page.menu }).click();
  await page.getByRole("menuitem", { name: texts.groups.end.action }).click();
  await question.getByRole("button", { name: texts.groups.end.action }).click();
  await expect(page).toHaveURL("/app");
  await expectToast(fill(texts.groups.end.done, { name: choir }));
  await expect(bens.conversation(choir)).toHaveCount(0);
  // A group without own membership, or a former one, redirects to the list.
  await anas.openRoute(members);
  await expectToast(fill(texts.groups.chat.left, { name: choir }));
  await expect(page).toHaveURL("/app");
  await anas.openRoute(`/app/group/${dan.id}/members`);
  await expect(page.getByRole("alert")).toContainText(texts.errors.group_not_found);
  await expect(page).toHaveURL("/app");
  for (const phone of [anas, bens]) await phone.close();
});

test("of many members those near the screen are rendered, all are found, and loading errors are reported and retried", async ({
  browser,
  server,
}) => {
  const [ana, ...others] = await seedUsers(server, 80, true);
  const group = await makeGroup(toSite(server), ana, "Quartier", others);
  const phone = await TestClient.open(browser, server);
  const { page, context, texts } = phone;
  await context.route(`**/api/groups/${group}/members*`, (route) => route.fulfill({ status: 503, body: "" }));
  let letOn = () => {};
  const held = new Promise<void>((resolve) => {
    letOn = resolve;
  });
  await context.route(/\/assets\/virtual-(rows|member-list)-/, (route) => held.then(() => route.continue()));
  await phone.signIn(ana, `/app/group/${group}/members`);
  await expect(page.getByText("Impossible de charger les membres du groupe.")).toBeVisible();
  await expectNoFaults(page);
  // A tap loads at once; without a tap the list loads a little later.
  const asked = page.waitForRequest(/\/members\?since=/);
  await page.getByRole("button", { name: texts.common.retry }).click();
  await asked;
  await context.unroute(`**/api/groups/${group}/members*`);
  const list = page.getByRole("list", { name: fill(texts.groups.chat.members_other, { count: 80 }) });
  const lines = list.getByRole("listitem");
  // A reader far down in the first page stays there when the code of long lists is loaded.
  await expect(lines).toHaveCount(50);
  await lines.nth(40).scrollIntoViewIfNeeded();
  const fortieth = (await lines.nth(40).locator("bdi").first().textContent()) ?? "";
  const contacts = await context.newPage();
  await phone.goTo("/app/contacts", contacts);
  const rows = contacts.getByRole("list", { name: texts.contacts.title }).getByRole("listitem");
  await expect(rows).toHaveCount(50);
  await rows.nth(40).scrollIntoViewIfNeeded();
  const contact = (await rows.nth(40).locator("bdi").first().textContent()) ?? "";
  letOn();
  await expect(rows.first()).toHaveAttribute("aria-setsize", "79");
  await expect(rows.filter({ hasText: contact })).toBeInViewport();
  await contacts.close();
  await expect(lines.first()).toHaveAttribute("aria-setsize", "80");
  await expect(lines.filter({ hasText: fortieth })).toBeInViewport();
  await list.hover();
  await page.mouse.wheel(0, -100_000);
  await expect(lines.first()).toContainText(texts.groups.owner);
  expect(await lines.count()).toBeLessThan(60);
  await list.hover();
  await page.mouse.wheel(0, 100_000);
  const lastName = others.at(-1)?.username ?? "";
  await expect(list.getByText(lastName)).toBeInViewport();
  await list.getByText(lastName).click();
  await expect(page).toHaveURL(`/app/user/${others.at(-1)?.id}`);
  await expect(list).toHaveCount(0); // the back button of its screen is another one
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(list.getByText(lastName)).toBeInViewport();
  await list.hover();
  await page.mouse.wheel(0, -100_000);
  await page.getByRole("searchbox", { name: texts.groups.page.searchLabel }).fill(lastName);
  await expect(lines).toHaveCount(1);
  await page.getByRole("searchbox").fill("zzz");
  await expect(page.getByText(texts.groups.page.noMatchTitle)).toBeVisible();

  // Offline, after one visit, all screens work; actions that need the network say so.
  await context.setOffline(true);
  await page.getByRole("searchbox").fill("");
  await expect(lines.first()).toHaveAttribute("aria-setsize", "80");
  await page.getByRole("button", { name: texts.groups.page.menu }).click();
  await page.getByRole("menuitem", { name: texts.groups.end.action }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.groups.end.action }).click();
  await expect(page.getByRole("alert")).toContainText(`${texts.groups.end.failed} ${texts.errors.offline}`);
  await expect(page).toHaveURL(`/app/group/${group}/members`);
  await phone.close();
});
