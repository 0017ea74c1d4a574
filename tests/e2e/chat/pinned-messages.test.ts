import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { readLayoutShift, recordLayoutShift } from "#tests/support/browser/cold-start.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person } from "#tests/support/people/people.ts";

const choose = async (client: TestClient, words: string, item: string) => {
  await client.message(words).locator("bdi").first().click({ button: "right" });
  await client.page.getByRole("menuitem", { name: item, exact: true }).click();
};
const findBar = ({ page, texts }: TestClient) => page.getByRole("region", { name: texts.pins.title });
const findEntry = ({ page }: TestClient, text: string) => page.getByRole("main").getByRole("listitem").getByText(text);

test("messages are pinned in a chat and by the owner of a group, with a bar that leads to them, and deleted ones can be unpinned", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7100, "Ana Mbuyi"), await makePerson(site, 7101, "Ben")];
  const cleo = await makePerson(site, 7166, "Cléo");
  for (const other of [ben, cleo]) await connectPeople(site, ana, other);
  const [withBen, withCleo] = [privateConversationId(ana.id, ben.id), privateConversationId(ana.id, cleo.id)];
  const lines = Array.from({ length: 120 }, (_, n) => `ligne ${n}`);
  await sendTexts(site, ben, withBen, ["Le code est 4821", ...lines.slice(0, 60), "À demain"]);
  await sendTexts(site, cleo, withCleo, ["Le code est 1712", ...lines, "À ce soir"]);
  const [own, bens] = [await makeGroup(site, ana, "Famille", [ben]), await makeGroup(site, ben, "Marché", [ana])];
  await sendTexts(site, ben, own, ["Réunion samedi"]);
  await sendTexts(site, ana, bens, ["Réunion dimanche"]);
  const pathOf = (conversation: string, seq: number) => `/api/conversations/${conversation}/messages/${seq}`;
  const pinAs = (person: Person, conversation: string, seq: number) =>
    callSite(site, "PUT", `${pathOf(conversation, seq)}/pin`, { token: person.token, body: { pinned: true } });
  const deleteAs = (person: Person, conversation: string, seq: number) =>
    callSite(site, "DELETE", pathOf(conversation, seq), { token: person.token });
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await recordLayoutShift(page);
  await anas.signInToChat(ana, ben.id);

  // Pinned from the menu, the message is in the bar, and the chat says who pinned it.
  await choose(anas, "À demain", texts.pins.pin);
  await expect(findBar(anas)).toContainText("À demain");
  await expect(findEntry(anas, texts.groups.events.pinnedByMe)).toBeVisible();

  // The bar is there from the first frame on, and the messages do not move.
  await page.reload();
  await expect(findBar(anas)).toContainText("À demain");
  expect(await readLayoutShift(page)).toBeLessThan(0.01);

  // An older message, which the device fetches: the bar leads to it and shows the next one.
  await pinAs(ben, withBen, 1);
  await expect(findBar(anas)).toContainText("Le code est 4821");
  const pinnedByBen = fill(texts.groups.events.pinned, { name: "Ben" });
  await expect(findEntry(anas, pinnedByBen)).toBeVisible();
  await expect(page.getByRole("log", { name: texts.chat.arrived })).toContainText(pinnedByBen);
  expect(await findAxeViolations(page)).toEqual([]);
  const bar = findBar(anas).getByRole("button").first();
  await expect(bar).toHaveAccessibleName(/^Message épinglé 1 sur 2 Ben\s*Le code est 4821$/);
  await bar.focus();
  await page.keyboard.press("Enter");
  await expect(anas.message("Le code est 4821")).toBeInViewport();
  await expect(bar).toHaveAccessibleName(/^Message épinglé 2 sur 2 Ben\s*À demain$/);
  await page.keyboard.press("Enter");
  await expect(anas.message("À demain")).toBeInViewport();

  // A fourth one is refused; without a network so is any.
  await pinAs(ben, withBen, 2);
  await expect(findBar(anas)).toContainText("1/3");
  await choose(anas, "ligne 58", texts.pins.pin);
  await expect(findToast(page).getByText(texts.errors.too_many_pinned_messages)).toBeVisible();
  await anas.context.setOffline(true);
  await choose(anas, "À demain", texts.pins.unpin);
  await expect(findToast(page).getByText(texts.errors.offline)).toBeVisible();
  await anas.context.setOffline(false);

  // Unpinned from the bar by keyboard, and deleted for everybody.
  await findBar(anas).getByRole("button", { name: texts.pins.options }).focus();
  await page.keyboard.press("Enter");
  const unpin = page.getByRole("menuitem", { name: texts.pins.unpin, exact: true });
  await expect(unpin).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(findBar(anas)).toContainText("1/2", { timeout: 30_000 });
  for (const seq of [1, 62]) await deleteAs(ben, withBen, seq);
  await expect(findBar(anas)).toHaveCount(0);

  // In a group the owner pins. Deleted by the owner, the message is unpinned.
  await anas.openRoute(`/app/group/${own}`);
  await choose(anas, "Réunion samedi", texts.pins.pin);
  await expect(findBar(anas)).toContainText("Réunion samedi");
  await expect(findBar(anas).getByRole("button")).toHaveCount(2);
  await choose(anas, "Réunion samedi", texts.common.delete);
  const question = page.getByRole("alertdialog", { name: texts.messages.deleteTitle });
  await expect(question).toContainText(fill(texts.messages.deleteOfMemberBody, { name: "Ben" }));
  await question.getByRole("button", { name: texts.messages.deleteForAll }).click();
  await expect(page.getByRole("status").getByText(texts.messages.deletedDone)).toBeAttached();
  await expect(findBar(anas)).toHaveCount(0);

  // A member reads, and has no menu for it. The author of a deleted message reads who did it.
  await pinAs(ben, bens, 2);
  await anas.openRoute(`/app/group/${bens}`);
  await expect(findBar(anas)).toContainText("Réunion dimanche");
  await expect(findBar(anas).getByRole("button")).toHaveCount(1);
  await anas.message("Réunion dimanche").locator("bdi").first().click({ button: "right" });
  await expect(page.getByRole("menuitem", { name: texts.messages.reply, exact: true })).toBeVisible();
  await expect(unpin).toHaveCount(0);
  await page.keyboard.press("Escape");
  await deleteAs(ben, bens, 2);
  await expect(findBar(anas)).toHaveCount(0);
  const deletedByBen = fill(texts.groups.events.deleted, { name: "Ben", who: texts.groups.events.you });
  await expect(findEntry(anas, deletedByBen)).toBeVisible();

  // An older message needs a network: without one the chat stays, and says why it does not go there.
  for (const seq of [122, 1]) await pinAs(cleo, withCleo, seq);
  await anas.openRoute(`/app/chat/${cleo.id}`);
  await expect(findBar(anas)).toContainText("Le code est 1712");
  await anas.context.setOffline(true);
  await findBar(anas).getByRole("button").first().click();
  await expect(findToast(page).getByText(texts.errors.offline)).toBeVisible();
  await expect(anas.message("À ce soir")).toBeInViewport();
  await anas.context.setOffline(false);

  // Her deletion leaves the place of the list taken, without its words; she can free it.
  await callSite(site, "PATCH", `${pathOf(withCleo, 122)}/flags`, { token: ana.token, body: { deleted: true } });
  await expect(findBar(anas)).toContainText(texts.messages.deletedByMe);
  await expect(findBar(anas)).toContainText("2/2");
  await findBar(anas).getByRole("button", { name: texts.pins.options }).click();
  await unpin.click();
  await expect(findBar(anas)).toContainText("Le code est 1712");
  await expect(findBar(anas)).not.toContainText("/2");

  // What she clears leaves her bar and stays in that of the other person, until she needs its place.
  for (const seq of [2, 3]) await pinAs(cleo, withCleo, seq);
  await expect(findBar(anas)).toContainText("/3");
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.chat.clear, exact: true }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: texts.chat.clearConfirm, exact: true }).click();
  await expect(findBar(anas)).toHaveCount(0);
  await page.reload();
  await expect(anas.composer()).toBeVisible();
  await expect(findBar(anas)).toHaveCount(0);
  await anas.write("Nouveau code 1199");
  await expect(anas.ticks("Nouveau code 1199", "sent")).toBeVisible();
  await choose(anas, "Nouveau code 1199", texts.pins.pin);
  await expect(findToast(page)).toContainText(texts.pins.cleared);
  await findToast(page).getByRole("button", { name: texts.pins.unpinCleared }).click();
  await expect(page.getByRole("status").filter({ hasText: texts.pins.unpinned })).toHaveCount(1);
  await choose(anas, "Nouveau code 1199", texts.pins.pin);
  await expect(findBar(anas)).toContainText("Nouveau code 1199");
  await anas.context.close();
});
