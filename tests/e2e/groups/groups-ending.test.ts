import { createUuid } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { eventLine, makeFriends, openGroup } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, type Person, signInAgain } from "#tests/support/people/people.ts";
import { readLocalLog } from "#tests/support/server/logs.ts";

test("a group continues when two members block each other, is transferred to the named successor, and ends for all at once", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const people = (await makeFriends(site, 614, 5)) as [Person, Person, Person, Person, Person];
  const [ana, ben, cleo, dido, eli] = people;
  await connectPeople(site, dido, eli);
  const group = await makeGroup(site, ana, "Voisins", people.slice(1));
  const chat = `/app/group/${group}`;
  const anas = await TestClient.open(browser, server);
  const bens = await TestClient.open(browser, server);
  const cleos = await TestClient.open(browser, server, "en");
  const didos = await TestClient.open(browser, server);
  const elis = await TestClient.open(browser, server, "pt");
  const anasTablet = await TestClient.open(browser, server, "en");
  await Promise.all([
    anas.signIn(ana, `${chat}/members`),
    bens.signIn(ben, chat),
    cleos.signIn(cleo, chat),
    didos.signIn(dido, chat),
    elis.signIn(eli, chat),
    signInAgain(site, ana).then((again) => anasTablet.signIn(again, chat)),
  ]);
  for (const phone of [bens, cleos, didos, elis]) await expect(phone.composer()).toBeVisible({ timeout: 30_000 });
  const { page, texts } = anas;
  const { groups } = texts;

  // Dido and Eli, one of whom blocks the other, see each other's messages here, but cannot reach each other otherwise.
  await callSite(site, "PUT", `/api/blocks/${eli.id}`, { token: dido.token });
  await elis.openChat(dido.id);
  await elis.write("en direct");
  await expect(elis.ticks("en direct", "sent")).toBeVisible();
  await openGroup(elis, group);
  await elis.write("pour tous");
  await expect(didos.message("pour tous")).toBeVisible();
  await didos.write("bien reçu, Eli");
  await expect(elis.message("bien reçu, Eli")).toBeVisible();
  await expect(elis.ticks("pour tous", "read")).toBeVisible();
  await didos.message("pour tous").locator(`a[href="/app/user/${eli.id}"]`).click();
  await didos.page.getByRole("link", { name: texts.people.message, exact: true }).click();
  await expect(didos.page.getByText(fill(texts.people.youBlocked, { name: eli.username }))).toBeVisible();
  await expect(didos.message("en direct")).toHaveCount(0);
  await expect(didos.composer()).toHaveCount(0);

  // One leaves; then the owner, who names a successor; then the group ends.
  const leave = (phone: TestClient) =>
    phone.page.getByRole("button", { name: phone.texts.groups.leave.short, exact: true });
  await didos.goTo(`${chat}/members`);
  await leave(didos).click();
  await didos.page.getByRole("alertdialog").getByRole("button", { name: groups.leave.short }).click();
  await expect(didos.page.getByText(fill(groups.leave.done, { name: "Voisins" }), { exact: true })).toBeVisible();
  await expect(didos.page).toHaveURL(/\/app$/);
  await expect(eventLine(bens, "left", { name: dido.username })).toBeVisible();
  await leave(anas).click();
  const heirs = page.getByRole("dialog", { name: groups.leave.heirTitle });
  await expect(heirs.getByRole("button", { name: dido.username })).toHaveCount(0);
  await heirs.getByRole("button", { name: eli.username }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: groups.leave.short }).click();
  await expect(page).toHaveURL(/\/app$/);
  await expect(anasTablet.page.getByText(anasTablet.texts.groups.chat.youLeft)).toBeVisible();
  await expect(eventLine(elis, "ownerMe", { name: ana.username })).toBeVisible();
  for (const phone of [anas, didos])
    await expect(phone.conversation("Voisins")).toContainText(phone.texts.groups.events.leftByMe);
  await elis.page
    .getByRole("main")
    .locator("header")
    .getByRole("link", { name: /Voisins/ })
    .click();
  await elis.page.getByRole("button", { name: elis.texts.groups.page.menu }).click();
  await elis.page.getByRole("menuitem", { name: elis.texts.groups.end.action }).click();
  await elis.page.getByRole("alertdialog").getByRole("button", { name: elis.texts.groups.end.action }).click();
  for (const phone of [bens, cleos, elis, anas, anasTablet, didos]) {
    await expect(phone.page).toHaveURL(/\/app$/);
    await expect(phone.conversation("Voisins")).toHaveCount(0);
    expect(await readLocalLog(phone.page, group)).toEqual([]);
  }

  // A group of other people is not found, whether it exists or not, in each language.
  const other = await makeGroup(site, ana, "Entre deux", [dido]);
  for (const phone of [bens, cleos, elis]) {
    for (const id of [other, createUuid(), "personne"]) {
      await phone.goTo(`/app/group/${id}`);
      await expect(phone.page.getByRole("alert").getByText(phone.texts.errors.group_not_found)).toBeVisible();
      await expect(phone.page).toHaveURL(/\/app$/);
    }
  }
  for (const phone of [anas, bens, cleos, didos, elis, anasTablet]) await phone.close();
});
