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

test("messages are pinned for both people of a chat and by the owner of a group, with a bar that leads to them", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7100, "Ana Mbuyi"), await makePerson(site, 7101, "Ben")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  const lines = Array.from({ length: 60 }, (_, n) => `ligne ${n}`);
  await sendTexts(site, ben, id, ["Le code est 4821", ...lines, "À demain"]);
  const group = await makeGroup(site, ana, "Famille", [ben]);
  await sendTexts(site, ben, group, ["Réunion samedi"]);
  const pinAs = (person: Person, conversation: string, seq: number, pinned = true) =>
    callSite(site, "PUT", `/api/conversations/${conversation}/messages/${seq}/pin`, {
      token: person.token,
      body: { pinned },
    });
  const anas = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const bens = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  const { page, texts } = anas;
  await recordLayoutShift(page);
  await anas.signInToChat(ana, ben.id);
  await bens.signInToChat(ben, ana.id);

  // Pinned from the menu, the message is in the bar of both, and the chat says who pinned it.
  await choose(anas, "À demain", texts.pins.pin);
  for (const client of [anas, bens]) await expect(findBar(client)).toContainText("À demain");
  await expect(findEntry(anas, texts.groups.events.pinnedByMe)).toBeVisible();
  const pinnedByAna = fill(bens.texts.groups.events.pinned, { name: "Ana Mbuyi" });
  await expect(findEntry(bens, pinnedByAna)).toBeVisible();
  await expect(bens.page.getByRole("log", { name: bens.texts.chat.arrived })).toContainText(pinnedByAna);

  // The bar is there from the first frame on, and the messages do not move.
  await page.reload();
  await expect(findBar(anas)).toContainText("À demain");
  expect(await readLayoutShift(page)).toBeLessThan(0.01);

  // An older message, which the device fetches: the bar leads to it and shows the next one.
  await pinAs(ben, id, 1);
  await expect(findBar(anas)).toContainText("Le code est 4821");
  expect(await findAxeViolations(page)).toEqual([]);
  expect(await findAxeViolations(bens.page)).toEqual([]);
  const bar = findBar(anas).getByRole("button").first();
  await expect(bar).toHaveAccessibleName(/^Message épinglé 1 sur 2 Ben\s*Le code est 4821$/);
  await bar.focus();
  await page.keyboard.press("Enter");
  await expect(anas.message("Le code est 4821")).toBeInViewport();
  await expect(bar).toHaveAccessibleName(/^Message épinglé 2 sur 2 Ben\s*À demain$/);
  await page.keyboard.press("Enter");
  await expect(anas.message("À demain")).toBeInViewport();

  // A fourth one is refused; without a network so is any.
  await pinAs(ben, id, 2);
  await expect(findBar(anas)).toContainText("1/3");
  await choose(anas, "ligne 58", texts.pins.pin);
  await expect(findToast(page).getByText(texts.errors.too_many_pinned_messages)).toBeVisible();
  await anas.context.setOffline(true);
  await choose(anas, "À demain", texts.pins.unpin);
  await expect(findToast(page).getByText(texts.errors.offline)).toBeVisible();
  await anas.context.setOffline(false);

  // Unpinned from the bar by keyboard, and deleted for everybody: each leaves the bars of both.
  await findBar(bens).getByRole("button", { name: bens.texts.pins.options }).focus();
  await bens.page.keyboard.press("Enter");
  const unpin = bens.page.getByRole("menuitem", { name: bens.texts.pins.unpin, exact: true });
  await expect(unpin).toBeFocused();
  await bens.page.keyboard.press("Enter");
  for (const client of [anas, bens]) await expect(findBar(client)).toContainText("1/2", { timeout: 30_000 });
  for (const seq of [1, 62])
    await callSite(site, "DELETE", `/api/conversations/${id}/messages/${seq}`, { token: ben.token });
  for (const client of [anas, bens]) await expect(findBar(client)).toHaveCount(0);

  // In a group the owner pins; a member reads, and has no menu for it.
  await anas.openRoute(`/app/group/${group}`);
  await bens.openRoute(`/app/group/${group}`);
  await choose(anas, "Réunion samedi", texts.pins.pin);
  await expect(findBar(bens)).toContainText("Réunion samedi");
  await expect(findBar(bens).getByRole("button")).toHaveCount(1);
  await expect(findBar(anas).getByRole("button")).toHaveCount(2);
  await bens.message("Réunion samedi").locator("bdi").first().click({ button: "right" });
  await expect(bens.page.getByRole("menuitem", { name: bens.texts.messages.reply, exact: true })).toBeVisible();
  await expect(bens.page.getByRole("menuitem", { name: bens.texts.pins.unpin })).toHaveCount(0);
  await bens.page.keyboard.press("Escape");
  // Deleted by the owner, it is unpinned, and its author reads who did.
  await choose(anas, "Réunion samedi", texts.common.delete);
  const question = page.getByRole("alertdialog", { name: texts.messages.deleteTitle });
  await expect(question).toContainText(fill(texts.messages.deleteOfMemberBody, { name: "Ben" }));
  await question.getByRole("button", { name: texts.messages.deleteForAll }).click();
  await expect(page.getByRole("status").getByText(texts.messages.deletedDone)).toBeAttached();
  for (const client of [anas, bens]) await expect(findBar(client)).toHaveCount(0);
  const deletedByAna = fill(bens.texts.groups.events.deleted, { name: "Ana Mbuyi", who: bens.texts.groups.events.you });
  await expect(findEntry(bens, deletedByAna)).toBeVisible();
  await anas.context.close();
  await bens.context.close();
});

test("a pinned message that one deleted for oneself can only be unpinned, and an older one needs a network", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7166, "Ana Mbuyi"), await makePerson(site, 7167, "Ben")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  const lines = Array.from({ length: 120 }, (_, n) => `ligne ${n}`);
  await sendTexts(site, ben, id, ["Le code est 4821", ...lines, "À demain"]);
  const message = `/api/conversations/${id}/messages`;
  for (const seq of [122, 1])
    await callSite(site, "PUT", `${message}/${seq}/pin`, { token: ben.token, body: { pinned: true } });
  const anas = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
    "en",
  );
  const { page, texts } = anas;
  await anas.signInToChat(ana, ben.id);
  await expect(findBar(anas)).toContainText("Le code est 4821");

  // Without a network the chat stays, and says why it does not go there.
  await anas.context.setOffline(true);
  await findBar(anas).getByRole("button").first().click();
  await expect(findToast(page).getByText(texts.errors.offline)).toBeVisible();
  await expect(anas.message("À demain")).toBeInViewport();
  await anas.context.setOffline(false);

  // Her deletion leaves the place of the list taken, without its words; she can free it.
  await callSite(site, "PATCH", `${message}/122/flags`, { token: ana.token, body: { deleted: true } });
  await expect(findBar(anas)).toContainText(texts.messages.deletedByMe);
  await expect(findBar(anas)).toContainText("2/2");
  expect(await findAxeViolations(page)).toEqual([]);
  await findBar(anas).getByRole("button", { name: texts.pins.options }).click();
  await page.getByRole("menuitem", { name: texts.pins.unpin, exact: true }).click();
  await expect(findBar(anas)).toContainText("Le code est 4821");
  await expect(findBar(anas)).not.toContainText("/2");

  // What she clears leaves her bar and stays in his, until she needs its place.
  for (const seq of [2, 3])
    await callSite(site, "PUT", `${message}/${seq}/pin`, { token: ben.token, body: { pinned: true } });
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
