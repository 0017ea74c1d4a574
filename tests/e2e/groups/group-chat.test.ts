import type { Page } from "@playwright/test";
import { type ConversationId, privateConversationId } from "#contract/ids.ts";
import { formatPhone } from "#contract/phone/phone-text.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient, withholdContent } from "#tests/support/browser/test-client.ts";
import { typeUntil } from "#tests/support/browser/type-until.ts";
import { eventLine } from "#tests/support/people/friends.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

const openMs = 30_000; // by its address, on a client that has received nothing yet
const toldAgainMs = 30_000; // after this time a screen reader announces the sender again

const expectNoFaults = async (page: Page) => expect(await findAxeViolations(page)).toEqual([]);
const openMenu = (phone: TestClient, text: string) =>
  phone.message(text).locator("bdi").last().click({ button: "right" });
const pick = (page: Page, label: string) => page.getByRole("menuitem", { name: label, exact: true }).click();
const line = (phone: TestClient, text: string) => phone.page.getByRole("main").getByRole("listitem").getByText(text);

/** Three people: the first is a contact of the others and owner of their group. */
const makeFamily = async (site: Site, n: number) => {
  const ana = await makePerson(site, n, "Ana Mbuyi");
  const ben = await makePerson(site, n + 1, "Ben");
  const cleo = await makePerson(site, n + 2, "Cléo");
  await connectPeople(site, ana, ben);
  await connectPeople(site, ana, cleo);
  return { ana, ben, cleo, id: await makeGroup(site, ana, "Famille", [ben, cleo]) };
};

const openGroup = async (phone: TestClient, person: Person, id: string) => {
  await phone.signIn(person, `/app/group/${id}`);
  await expect(phone.composer()).toBeVisible({ timeout: openMs });
};

test("a group's messages show their authors, its system messages who did what, its header who types, and a sheet who has read", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, cleo, id } = await makeFamily(site, 9300);
  await sendTexts(site, ana, id, ["Mbote na bino"]);
  await sendTexts(site, ben, id, ["Oui", "À quelle heure ?"]);
  const anas = await TestClient.open(browser, server, "pt");
  const bens = await TestClient.open(browser, server, "en");
  const { page, texts } = anas;
  const { isTyping, incoming } = texts.chat;

  // From the list, where the last message names its author and the group can be found by its name.
  await anas.signIn(ana);
  await expect(anas.conversation("Famille")).toContainText(fill(incoming, { name: "Ben", text: "À quelle heure ?" }));
  await expect(anas.conversation("Famille").getByRole("img", { name: texts.groups.chat.isGroup })).toBeVisible();
  await page.getByRole("searchbox").fill("famil");
  await expect(page.getByRole("group", { name: texts.searchFilters.title })).toBeVisible(); // the list is hidden
  await anas.conversation("Famille").click();
  await page.waitForURL(`**/app/group/${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    `Famille${fill(texts.groups.chat.members_other, { count: 3 })}`,
  );
  await expect(eventLine(anas, "createdByMe", { group: "Famille" })).toBeVisible();
  // Only the first message of a run shows the name; a screen reader reads it with each message.
  const author = anas.message("Oui").locator("bdi").getByText("Ben", { exact: true });
  await expect(author).toBeVisible();
  await page.evaluate(() => document.documentElement.style.setProperty("font-size", "200%"));
  expect((await author.boundingBox())?.height).toBeGreaterThan(28); // its font size
  await page.evaluate(() => document.documentElement.style.removeProperty("font-size"));
  await expect(anas.message("À quelle heure ?").locator("bdi").getByText("Ben", { exact: true })).toHaveCount(0);
  await expect(anas.message("À quelle heure ?")).toContainText(fill(texts.chat.from, { name: "Ben" }));
  await expect(anas.message("Mbote na bino")).toContainText(texts.chat.fromYou);

  // A member who opens it by its address, and knows only Ana, sees all names too.
  await openGroup(bens, ben, id);
  await expect(line(bens, "Ana Mbuyi created the group “Famille”.")).toBeVisible();
  await callSite(site, "PATCH", `/api/groups/${id}`, { token: ana.token, body: { name: "Famille & amis" } });
  await expect(line(bens, "Ana Mbuyi renamed the group to “Famille & amis”.")).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^Famille & amis/);

  // While a name is unknown no placeholder is shown, except for a screen reader.
  const cleos = await TestClient.open(browser, server);
  await withholdContent(cleos.context);
  const someone = cleos.page
    .getByRole("main")
    .locator("bdi")
    .getByText(cleos.texts.groups.chat.someone, { exact: true });
  let letPass = () => {};
  const held = new Promise<void>((resolve) => (letPass = resolve));
  await cleos.context.route(/\/members\?numbers=/, (route) => held.then(() => route.continue()));
  await openGroup(cleos, cleo, id);
  await expect(cleos.message("Oui").locator("[data-unnamed]")).toBeVisible();
  await expect(cleos.message("Oui")).toContainText(cleos.texts.groups.chat.someone);
  await expect(someone).toHaveCount(0);
  await expect(cleos.message("À quelle heure ?").locator("[data-initials]")).toHaveCount(0);
  letPass();
  await expect(cleos.message("Oui").locator("bdi").getByText("Ben", { exact: true })).toBeVisible();
  await expect(cleos.message("À quelle heure ?").locator("[data-initials=B]")).toBeVisible();
  await expect(cleos.page.locator("[data-unnamed]")).toHaveCount(0);
  const header = page.getByRole("heading", { level: 1 });
  await typeUntil(
    bens,
    Promise.all([
      expect(header).toContainText(fill(isTyping, { name: "Ben" })),
      expect(page.getByRole("status").getByText(fill(isTyping, { name: "Ben" }))).toBeAttached({
        timeout: 2 * toldAgainMs,
      }),
    ]),
  );
  const bothType = expect(header).toContainText(
    new RegExp(fill(texts.groups.chat.twoType, { name: "(Ben|Cléo)", other: "(Ben|Cléo)" })),
  );
  await Promise.all([typeUntil(bens, bothType), typeUntil(cleos, bothType)]);
  await bens.write("bonjour");
  await expect(anas.message("bonjour")).toBeVisible();
  await expect(page.getByRole("log")).toContainText(fill(incoming, { name: "Ben", text: "bonjour" }));

  // Read by one, delivered to the other, whose client shows another screen.
  await cleos.composer().fill("");
  await cleos.page.getByRole("link", { name: cleos.texts.common.back }).click();
  await expect(cleos.composer()).toHaveCount(0);
  await expect(header).toContainText(fill(texts.groups.chat.members_other, { count: 3 }));
  const namesTypist = fill(cleos.texts.chat.isTyping, { name: "Ben" });
  await typeUntil(bens, expect(cleos.conversation("Famille & amis")).toContainText(namesTypist));
  await anas.write("Qui vient ?");
  await expect(bens.message("Qui vient ?")).toBeVisible();
  await expect(bens.page.getByRole("log")).toContainText("Ana Mbuyi: Qui vient ?");
  await expect(cleos.conversation("Famille & amis")).toContainText("Ana Mbuyi : Qui vient ?");
  await expect(cleos.conversation("Famille & amis")).toContainText(fill(cleos.texts.masolo.unread_one, { count: 1 }));
  await expect(anas.ticks("Qui vient ?", "delivered")).toBeVisible();
  await openMenu(anas, "Qui vient ?");
  await pick(page, texts.groups.receipts.title);
  const sheet = page.getByRole("dialog", { name: texts.groups.receipts.title });
  const part = (name: string) => sheet.getByRole("region", { name }).getByRole("listitem");
  const { receipts } = texts.groups;
  await expect(part(fill(receipts.read, { count: 1 }))).toContainText(formatPhone(ben.phone));
  await expect(part(fill(receipts.delivered, { count: 1 }))).toContainText("Cléo");
  await expectNoFaults(page);
  // It updates live: when all have read, the ticks change and the sheet with them.
  await cleos.conversation("Famille & amis").click();
  await expect(cleos.message("Qui vient ?")).toBeVisible();
  await expect(part(fill(receipts.read, { count: 2 }))).toHaveCount(2);
  await expect(part(fill(receipts.delivered, { count: 1 }))).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(anas.ticks("Qui vient ?", "read")).toBeVisible();

  // Own and others' messages have all message features, and a link to their author.
  await openMenu(anas, "bonjour");
  await expect(page.getByRole("menuitem", { name: texts.groups.receipts.title })).toHaveCount(0);
  await pick(page, fill(texts.groups.chat.profileOf, { name: "Ben" }));
  await page.waitForURL(`**/app/user/${ben.id}`);
  await page.goBack();
  await openMenu(anas, "Qui vient ?");
  await pick(page, texts.common.delete);
  await page.getByRole("alertdialog").getByRole("button", { name: texts.messages.deleteForAll }).click();
  await expect(bens.page.getByText(bens.texts.chat.deletedMessage)).toBeVisible();
  await expect(bens.page.getByText("Qui vient ?")).toHaveCount(0);
  // The owner deletes a member's message, and its author reads who did.
  await openMenu(anas, "bonjour");
  await pick(page, texts.common.delete);
  await expect(page.getByRole("alertdialog")).toContainText("Ben");
  await page.getByRole("alertdialog").getByRole("button", { name: texts.messages.deleteForAll }).click();
  await expect(line(bens, "deleted a message from you")).toBeVisible();
  await expect(anas.message("bonjour")).toHaveCount(0);
  await expect(bens.page.getByText("bonjour")).toHaveCount(0);

  // Search names the authors; calls are reported as not available yet; the heading opens the members.
  await page.getByRole("button", { name: texts.common.more }).click();
  await pick(page, texts.chat.search);
  await page.getByRole("searchbox").fill("heure");
  await expect(page.getByRole("list", { name: texts.chat.foundList }).getByRole("listitem")).toContainText("Ben");
  await page.getByRole("searchbox").press("Enter");
  await expect(anas.message("À quelle heure ?").locator("mark")).toHaveText("heure");
  await page.getByRole("button", { name: texts.chat.closeSearch }).click();
  await page.getByRole("button", { name: texts.groups.chat.call }).click();
  await expect(page.getByRole("status").getByText(texts.common.notAvailable)).toBeVisible();
  await expectNoFaults(page);
  // The authors known from the chat are not the member list, which is shown completely or not at all.
  await anas.context.route(/\/members\?since=/, (route) => route.fulfill({ status: 503, body: "" }));
  await page.getByRole("heading", { level: 1 }).getByRole("link").click();
  await page.waitForURL(`**/app/group/${id}/members`);
  await expect(page.getByText(texts.groups.membersFailed)).toBeVisible();
  await expect(page.getByText(formatPhone(ben.phone))).toHaveCount(0);
  // The connection stayed up, so nothing signals that members can be loaded again: the page keeps asking.
  await anas.context.unroute(/\/members\?since=/);
  const members = page.getByRole("list", { name: fill(texts.groups.chat.members_other, { count: 3 }) });
  await expect(members.getByRole("listitem")).toHaveCount(3);
  for (const phone of [anas, bens, cleos]) await phone.close();
});

test("a message is forwarded to a group and to a contact at once, one broadcast reaches both, and clearing the group keeps it for the others", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, cleo, id } = await makeFamily(site, 9310);
  await sendTexts(site, ben, id, ["à transmettre"]);
  const anas = await TestClient.open(browser, server);
  const { page, texts } = anas;
  await openGroup(anas, ana, id);
  const readTexts = async (person: Person, conversation: ConversationId) =>
    (await readServerLog(site, person, conversation)).map(({ text }) => text);
  const [withBen, withCleo] = [privateConversationId(ana.id, ben.id), privateConversationId(ana.id, cleo.id)];
  await openMenu(anas, "à transmettre");
  await pick(page, texts.messages.forward);
  const forward = page.getByRole("dialog", { name: texts.messages.forwardTitle });
  await expect(forward.getByRole("checkbox")).toHaveCount(3);
  await forward.getByRole("checkbox", { name: "Famille" }).check({ force: true });
  await forward.getByRole("checkbox", { name: "Cléo" }).check({ force: true });
  // The sheet contains its sending code: the network may fail while it is open.
  await anas.context.setOffline(true);
  await forward.getByRole("button", { name: fill(texts.messages.forwardTo_other, { count: 2 }) }).click();
  await expect(page.getByText("Message transféré à 2 contacts.")).toBeVisible();
  await anas.context.setOffline(false);
  const passedOn = fill(texts.messages.forwardedFrom, { name: "Ben" });
  await expect(page.getByText(passedOn)).toBeVisible();
  const forwarded = ["<event>", "à transmettre", "à transmettre"];
  await expect.poll(() => readTexts(cleo, id)).toEqual(forwarded);
  await expect.poll(() => readTexts(cleo, withCleo)).toEqual(["à transmettre"]);

  await anas.openRoute("/app");
  await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
  await pick(page, texts.masolo.broadcast);
  const broadcast = page.getByRole("dialog", { name: texts.masolo.broadcastTitle });
  await broadcast.getByRole("checkbox", { name: "Famille" }).check({ force: true });
  await broadcast.getByRole("checkbox", { name: "Ben" }).check({ force: true });
  await broadcast.getByRole("textbox", { name: texts.masolo.broadcastText }).fill("à tous");
  await broadcast.getByRole("button", { name: fill(texts.masolo.broadcastSend_other, { count: 2 }) }).click();
  await expect.poll(() => readTexts(cleo, id)).toEqual([...forwarded, "à tous"]);
  await expect.poll(() => readTexts(ben, withBen)).toEqual(["à tous"]);
  expect(await readTexts(cleo, withCleo)).toEqual(["à transmettre"]);

  // Clear from the row's menu; the confirmation names a group.
  await page.getByRole("link", { name: "Famille" }).click({ button: "right" });
  await pick(page, texts.chat.clear);
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText(fill(texts.groups.chat.clearBody, { name: "Famille" }));
  await question.getByRole("button", { name: texts.chat.clearConfirm }).click();
  await expect(anas.conversation("Famille")).toContainText(texts.masolo.nothingLeft);
  expect(await readTexts(cleo, id)).toEqual([...forwarded, "à tous"]);
  await anas.close();
});

test("who is removed from a group keeps unsent messages until they are discarded", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, cleo, id } = await makeFamily(site, 9320);
  await sendTexts(site, ana, id, ["pour la famille"]);
  const cleos = await TestClient.open(browser, server);

  // Offline she sends one message and starts a draft; meanwhile she is removed.
  const { page, texts } = cleos;
  await openGroup(cleos, cleo, id);
  await expect(cleos.message("pour la famille")).toBeVisible(); // an earlier state is no new event
  await sendTexts(site, ana, id, ["à bientôt"]);
  await expect(page.getByRole("log")).toContainText("Ana Mbuyi : à bientôt");
  await cleos.context.setOffline(true);
  await cleos.write("jamais parti");
  await cleos.composer().fill("à peine commencé");
  const membership = `/api/groups/${id}/members/${cleo.id}`;
  expect((await callSite(site, "DELETE", membership, { token: ana.token })).status).toBe(204);
  await cleos.context.setOffline(false);
  await expect(page.getByText(texts.groups.chat.leftNote)).toBeVisible({ timeout: 30_000 });
  await expect(cleos.message("à bientôt")).toBeVisible();
  await expect(cleos.message("jamais parti")).toBeVisible();
  await expect(page.getByRole("button", { name: texts.chat.retry })).toHaveCount(0);
  await expect(page.getByText("à peine commencé")).toBeVisible();
  await expect(cleos.composer()).toHaveCount(0);
  await expectNoFaults(page);
  // It is still in the list, and survives a reload.
  await page.reload();
  await expect(cleos.message("jamais parti")).toBeVisible();
  await page.getByRole("button", { name: texts.chat.discard, exact: true }).first().click();
  await cleos.confirmDeletion();
  await expect(cleos.message("jamais parti")).toHaveCount(0);
  await page.getByRole("link", { name: texts.common.back }).click();
  await expect(cleos.conversation("Famille")).toContainText("à peine commencé");
  await cleos.conversation("Famille").click();
  await page.getByRole("button", { name: texts.common.delete, exact: true }).click();
  await expect(page.getByText(texts.groups.chat.notMember)).toBeVisible();
  await cleos.close();
});
