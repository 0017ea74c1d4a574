import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, type Person } from "#tests/support/people/people.ts";

test("who left, and a member of another group, are invited and join by accepting in Senga", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  // Cleo and Dido are contacts of Ana and of nobody else.
  const [ana, ben, cleo, dido] = (await makeFriends(site, 1730, 4)) as [Person, Person, Person, Person];
  const group = await makeGroup(site, ben, "Quartier", [ana]);
  const common = await makeGroup(site, ana, "Chorale", [ben, cleo, dido]);
  await sendTexts(site, ben, group, ["avant le départ"]);
  expect((await callSite(site, "DELETE", `/api/groups/${group}/members/${ana.id}`, { token: ana.token })).status).toBe(
    204,
  );
  const bens = await TestClient.open(browser, server, "fr", withServiceWorker);
  const anas = await TestClient.open(browser, server);
  const { texts } = bens;
  await bens.signIn(ben, `/app/group/${common}/members`);
  await expect(bens.page.getByRole("link", { name: cleo.username })).toBeVisible();
  await bens.openRoute(`/app/group/${group}/members`);
  const sheet = bens.page.getByRole("dialog", { name: texts.groups.add.title });

  await test.step("the owner invites who left, and a member of another group", async () => {
    await bens.page.getByRole("button", { name: texts.groups.add.action, exact: true }).click();
    await sheet.getByRole("listitem").filter({ hasText: ana.username }).click();
    await sheet.getByRole("button", { name: texts.groups.invited.groupPeople }).press("Enter");
    await expect(sheet.getByText(texts.groups.invited.groupPeopleShown)).toBeFocused();
    for (const one of [cleo, dido]) await sheet.getByRole("listitem").filter({ hasText: one.username }).click();
    expect(await findAxeViolations(bens.page)).toEqual([]);
    await sheet.getByRole("button", { name: fill(texts.groups.add.submitOrInvite_other, { count: 3 }) }).click();
    await expect(bens.page.getByText(fill(texts.groups.invited.many_other, { count: 3 }))).toBeVisible();
  });

  const pending = bens.page.getByRole("region", { name: texts.groups.invited.title });
  const second = await bens.context.newPage();
  const pendingInSecond = second.getByRole("region", { name: texts.groups.invited.title });

  await test.step("the page lists who has not answered, without a network too, and an invitation is withdrawn there", async () => {
    await expect(pending.getByRole("listitem")).toHaveCount(3);
    await second.goto(`${server.origin}/app/group/${group}/members`);
    await expect(pendingInSecond.getByRole("listitem")).toHaveCount(3);
    await waitForOfflineReady(bens.page);
    await bens.context.setOffline(true);
    await bens.page.reload();
    await expect(pending).toContainText(cleo.username);
    const withdraw = pending.getByRole("button", {
      name: fill(texts.groups.invited.withdrawName, { name: dido.username }),
    });
    await withdraw.press("Enter");
    await expect(findToast(bens.page).filter({ hasText: texts.errors.offline })).toBeVisible();
    await bens.context.setOffline(false);
    expect(await findAxeViolations(bens.page)).toEqual([]);
    await expect(async () => {
      await withdraw.press("Enter", { timeout: 2_000 });
      await expect(withdraw).toBeHidden({ timeout: 3_000 });
    }).toPass();
    await expect(pending.getByRole("listitem")).toHaveCount(2);
    await expect(pending.locator(":focus")).toHaveCount(1);
    await expect(pendingInSecond.getByRole("listitem")).toHaveCount(2);
  });

  await test.step("who left sees the invitation with its context, and continues the same history", async () => {
    await anas.signIn(ana, "/app/senga");
    const bar = anas.page.getByRole("navigation", { name: texts.shell.navigation });
    await expect(bar.getByText(fill(texts.shell.received_one, { count: 1 }))).toBeAttached();
    const invitation = anas.page.getByRole("list", { name: texts.senga.group.title }).getByRole("listitem").first();
    await expect(invitation).toContainText("Quartier");
    await expect(invitation).toContainText(fill(texts.senga.group.fromContact, { name: ben.username }));
    expect(await findAxeViolations(anas.page)).toEqual([]);
    await anas.context.setOffline(true);
    await invitation.getByRole("button", { name: fill(texts.senga.group.acceptName, { name: "Quartier" }) }).click();
    await expect(anas.page.getByText(texts.senga.group.offline)).toBeVisible();
    await anas.context.setOffline(false);
    await expect(async () => {
      await invitation
        .getByRole("button", { name: fill(texts.senga.group.acceptName, { name: "Quartier" }) })
        .click({ timeout: 2_000 });
      await expect(invitation).toBeHidden({ timeout: 3_000 });
    }).toPass();
    await expect(bar.getByText(fill(texts.shell.received_one, { count: 1 }))).toBeHidden();
    await expect(pendingInSecond.getByRole("listitem")).toHaveCount(1);
    await expect(anas.page.getByText(texts.senga.noReceived.title)).toBeVisible();
    await anas.page.getByRole("button", { name: texts.senga.group.open }).click();
    await expect(anas.page.getByRole("main").getByText("avant le départ", { exact: true })).toBeVisible();
    await sendTexts(site, ben, group, ["te revoilà"]);
    await expect(anas.page.getByRole("main").getByText("te revoilà", { exact: true })).toBeVisible();
  });

  await test.step("who creates a group is told who was invited instead of added", async () => {
    await callSite(site, "PATCH", "/api/settings", { token: ana.token, body: { groupAdds: "nobody" } });
    await bens.openRoute("/app/create-group");
    await bens.page.getByLabel(texts.groups.create.name, { exact: true }).fill("Marché");
    await bens.page.getByRole("checkbox", { name: ana.username }).check({ force: true });
    await bens.page.getByRole("button", { name: texts.groups.create.submit }).click();
    await expect(bens.page.getByText(fill(texts.groups.invited.one, { name: ana.username }))).toBeVisible();
    await bens.openRoute(`/app/group/${group}/members`);
  });

  await test.step("a stranger's invitation can be declined, and its sender sees no difference", async () => {
    const cleos = await TestClient.open(browser, server, "pt");
    await cleos.signIn(cleo, "/app/senga");
    const words = cleos.texts.senga.group;
    const list = cleos.page.getByRole("list", { name: words.title });
    await expect(list).toContainText(cleos.texts.people.unverified);
    await list.getByRole("button", { name: fill(words.declineName, { name: "Quartier" }) }).click();
    await expect(cleos.page.getByText(cleos.texts.senga.noReceived.title)).toBeVisible();
    await bens.page.getByRole("button", { name: texts.groups.add.action, exact: true }).click();
    const invited = sheet.getByRole("region", { name: texts.groups.invited.title });
    await expect(invited).toContainText(cleo.username);
    await invited
      .getByRole("button", { name: fill(texts.groups.invited.withdrawName, { name: cleo.username }) })
      .press("Enter");
    await expect(invited).toBeHidden();
    await expect(sheet.getByText(fill(texts.groups.invited.withdrawn, { name: cleo.username })).last()).toBeVisible();
    expect(await sheet.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await expect(pendingInSecond).toBeHidden();
  });
});
