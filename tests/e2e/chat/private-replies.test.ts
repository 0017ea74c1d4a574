import { privateConversationId } from "#contract/ids.ts";
import { toGroupPlace } from "#contract/messages/body.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

/** Opens the menu of a message and chooses an entry. */
const choose = async ({ page }: TestClient, text: string, entry: string) => {
  const item = page.getByRole("main").getByRole("listitem").filter({ hasText: text }).last();
  await item.locator("bdi.whitespace-pre-wrap").last().click({ button: "right" });
  await page.getByRole("menuitem", { name: entry, exact: true }).click();
};

test("a group message is answered in private, offline, from quote to group, and its author's info has the times", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7120, "Ana Mbuyi"), await makePerson(site, 7121, "Ben")];
  await connectPeople(site, ana, ben);
  const id = await makeGroup(site, ana, "Famille", [ben]);
  await sendTexts(site, ben, id, ["On part à quelle heure ?"]);
  const anas = await TestClient.openIn(
    await browser.newContext({ ...withServiceWorker, baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const bens = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "en",
  );
  await anas.signIn(ana, `/app/group/${id}`);
  await bens.signIn(ben, `/app/chat/${ana.id}`);
  const { page, texts } = anas;
  await waitForOfflineReady(page);

  // The answer is written and sent offline; its quote is drawn from the group on each device.
  await choose(anas, "On part", texts.messages.replyPrivately);
  await expect(page).toHaveURL(new RegExp(`/app/chat/${ben.id}`));
  await expect(anas.composer()).toBeFocused();
  await expect(anas.composer()).toHaveAccessibleDescription(/En réponse à Ben · Famille.*On part à quelle heure/);
  await anas.context.setOffline(true);
  await anas.write("Entre nous");
  await anas.context.setOffline(false);
  const quote = bens.page.getByRole("button", { name: /You · Famille.*On part à quelle heure/ });
  await expect(quote).toBeVisible({ timeout: 30_000 });
  expect(await findAxeViolations(bens.page)).toEqual([]);
  await expect(anas.ticks("Entre nous", "read")).toBeVisible();

  // Times of the own message; without a network only what the ticks say.
  const { info } = texts.messages;
  const sheet = page.getByRole("dialog", { name: info.title });
  await choose(anas, "Entre nous", info.title);
  for (const name of ["sent", "delivered", "read"] as const)
    await expect(sheet.locator("div", { has: page.getByText(info[name], { exact: true }) }).last()).toContainText(
      /Aujourd’hui, \d\d:\d\d/,
    );
  expect(await findAxeViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await anas.context.setOffline(true);
  await choose(anas, "Entre nous", info.title);
  await expect(sheet.getByText(info.offline)).toBeVisible();
  await expect(sheet.getByText(info.confirmed)).toHaveCount(2);
  await page.keyboard.press("Escape");
  await anas.context.setOffline(false);

  // The quote leads to the group.
  await quote.click();
  await expect(bens.page).toHaveURL(new RegExp(`/app/group/${id}`));
  await expect(bens.message("On part à quelle heure ?")).toBeInViewport();

  // The owner deletes the message: its tombstone says so, and quotes no longer show its words.
  await anas.openRoute(`/app/group/${id}`);
  await choose(anas, "On part", texts.common.delete);
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText(fill(texts.messages.deleteOfMemberBody, { name: "Ben" }));
  await question.getByRole("button", { name: texts.messages.deleteForAll }).click();
  await expect(page.getByText(texts.messages.deletedDone)).toBeVisible();
  await anas.openRoute(`/app/chat/${ben.id}`);
  const deletedBy = bens.texts.messages.deletedBy.replace(/\{name\}.*/, "");
  await expect(bens.page.getByRole("main").getByText(new RegExp(`${deletedBy}.?Ana Mbuyi`))).toBeVisible();
  await expect(anas.message("Entre nous")).toContainText(texts.messages.deletedByMe);

  // What Ben wrote can be answered in private after he was removed: he keeps it.
  await sendTexts(site, ben, id, ["Bien arrivé"]);
  const place = toGroupPlace(id, 4); // after the system message about the deletion
  await callSite(site, "DELETE", `/api/groups/${id}/members/${ben.id}`, { token: ana.token });
  const path = `/api/conversations/${privateConversationId(ana.id, ben.id)}/messages`;
  const late = { type: "text", text: "Bon séjour", reply: place };
  await callSite(site, "POST", path, {
    token: ana.token,
    body: { messages: [{ cid: crypto.randomUUID(), body: late }] },
  });
  await bens.openRoute(`/app/chat/${ana.id}`);
  for (const client of [anas, bens]) await expect(client.message("Bon séjour")).toContainText("Bien arrivé");
  // Deleted by Ana for herself, it is not shown to her, and she reads why.
  await callSite(site, "PATCH", `/api/conversations/${id}/messages/4/flags`, {
    token: ana.token,
    body: { deleted: true },
  });
  await expect(anas.message("Bon séjour")).toContainText(texts.messages.deletedByMe);
  await anas.close();
  await bens.close();
});
