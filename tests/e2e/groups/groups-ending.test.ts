import { createUuid, privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { eventLine, makeFriends } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, type Person } from "#tests/support/people/people.ts";
import { readLocalLog } from "#tests/support/server/logs.ts";

test("a group continues when two members block each other, is transferred to the named successor, and ends for all at once", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, dido, eli] = (await makeFriends(site, 614, 3)) as [Person, Person, Person];
  await connectPeople(site, dido, eli);
  const group = await makeGroup(site, ana, "Voisins", [dido, eli]);
  const chat = `/app/group/${group}`;
  const didos = await TestClient.open(browser, server);
  const elis = await TestClient.open(browser, server, "pt");
  await Promise.all([didos.signIn(dido, chat), elis.signIn(eli, chat)]);
  for (const phone of [didos, elis]) await expect(phone.composer()).toBeVisible({ timeout: 30_000 });
  const { page, texts } = didos;

  // Dido and Eli, one of whom blocks the other, see each other's messages here, but cannot reach each other otherwise.
  await callSite(site, "PUT", `/api/blocks/${eli.id}`, { token: dido.token });
  await sendTexts(site, eli, privateConversationId(dido.id, eli.id), ["en direct"]);
  await elis.write("pour tous");
  await expect(didos.message("pour tous")).toBeVisible();
  await didos.write("bien reçu, Eli");
  await expect(elis.message("bien reçu, Eli")).toBeVisible();
  const read = { token: ana.token, body: { delivered: 2, read: 2 } };
  await callSite(site, "PUT", `/api/conversations/${group}/marks`, read);
  await expect(elis.ticks("pour tous", "read")).toBeVisible();
  await didos.message("pour tous").locator(`a[href="/app/user/${eli.id}"]`).click();
  await page.getByRole("link", { name: texts.people.message, exact: true }).click();
  await expect(page.getByText(fill(texts.people.youBlocked, { name: eli.username }))).toBeVisible();
  await expect(didos.message("en direct")).toHaveCount(0);
  await expect(didos.composer()).toHaveCount(0);

  // Dido leaves on another device; then the owner, who names a successor; then the group ends.
  const leave = async ({ id, token }: Person, query = "") => {
    const { status } = await callSite(site, "DELETE", `/api/groups/${group}/members/${id}${query}`, { token });
    expect(status).toBe(204);
  };
  await leave(dido);
  await didos.openRoute(chat);
  await expect(page.getByText(texts.groups.chat.youLeft)).toBeVisible();
  await expect(eventLine(elis, "left", { name: dido.username })).toBeVisible();
  await leave(ana, `?heir=${eli.id}`);
  await expect(eventLine(elis, "ownerMe", { name: ana.username })).toBeVisible();
  expect((await callSite(site, "DELETE", `/api/groups/${group}`, { token: eli.token })).status).toBe(204);
  for (const phone of [didos, elis]) {
    await expect(phone.page).toHaveURL(/\/app$/);
    await expect(phone.conversation("Voisins")).toHaveCount(0);
    expect(await readLocalLog(phone.page, group)).toEqual([]);
  }

  // A group of other people is not found, whether it exists or not.
  const other = await makeGroup(site, ana, "Entre deux", [dido]);
  for (const id of [other, createUuid(), "personne"]) {
    await elis.goTo(`/app/group/${id}`);
    await expect(elis.page.getByRole("alert").getByText(elis.texts.errors.group_not_found)).toBeVisible();
    await expect(elis.page).toHaveURL(/\/app$/);
  }
  for (const phone of [didos, elis]) await phone.close();
});
