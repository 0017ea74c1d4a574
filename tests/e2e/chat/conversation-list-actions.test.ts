import { privateConversationId } from "#contract/ids.ts";
import { readAttachmentDrafts } from "#tests/support/browser/attachment-drafts.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, onePixelPng, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerMessages } from "#tests/support/server/logs.ts";

test("one text and one picture go to three people as ordinary private messages", async ({ browser, server }) => {
  const site = toSite(server);
  const ana = await makePerson(site, 3340);
  const others = [
    await makePerson(site, 3341, "Ângela Costa"),
    await makePerson(site, 3342, "Bento"),
    await makePerson(site, 3343, "Célia"),
  ] as const;
  for (const other of others) await connectPeople(site, ana, other);
  const anas = await TestClient.open(browser, server, "pt", withServiceWorker);
  const { page, texts } = anas;
  await anas.signIn(ana);
  const openSheet = async () => {
    await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
    await page.getByRole("menuitem", { name: texts.masolo.broadcast }).click();
  };
  const sheet = page.getByRole("dialog", { name: texts.masolo.broadcastTitle });
  const send = sheet.locator("button[type=submit]");
  const png = { name: "praia.png", mimeType: "image/png", buffer: onePixelPng };

  // Closed by keyboard, nothing is sent, and the draft is there again later.
  await openSheet();
  await expect(send).toBeDisabled();
  await sheet.getByRole("textbox", { name: texts.masolo.broadcastText }).fill("Reunião às 18h");
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
  await openSheet();
  await sheet.getByRole("searchbox").fill("angela");
  await expect(sheet.getByRole("checkbox")).toHaveCount(1);
  await sheet.getByRole("checkbox").check({ force: true });
  await sheet.getByRole("searchbox").fill("");
  for (const { username } of others.slice(1))
    await sheet.getByRole("checkbox", { name: username }).check({ force: true });
  // Nothing is lost either when the page crashes.
  await sheet.locator("input[type=file]").setInputFiles([png]);
  await expect
    .poll(() => readAttachmentDrafts(page))
    .toMatchObject([{ text: "Reunião às 18h", files: [{ name: png.name }] }]);
  await expect.poll(async () => (await readAttachmentDrafts(page))[0]?.to.length).toBe(3);
  await page.reload();
  await openSheet();
  await sheet.getByRole("button", { name: /praia/ }).click();
  await expect(sheet.getByRole("textbox", { name: texts.masolo.broadcastText })).toHaveValue("Reunião às 18h");
  await expect(send).toHaveText(fill(texts.masolo.broadcastSend_other, { count: 3 }));
  expect(await findAxeViolations(page)).toEqual([]);
  expect((await sheet.ariaSnapshot()).split(texts.masolo.addPictures)).toHaveLength(2); // it is announced once
  await send.click();
  await expect(page.getByRole("status").getByText(fill(texts.masolo.broadcastSent_other, { count: 3 }))).toBeVisible();
  await expect(sheet).toHaveCount(0);
  await expect.poll(() => readAttachmentDrafts(page)).toEqual([]);
  for (const { username } of others) {
    await expect(anas.conversation(username)).toContainText("Reunião às 18h");
    await expect(anas.conversation(username).getByRole("img", { name: texts.chat.status.sent })).toBeVisible();
  }

  // A picture with a text, sent offline: it is delivered when the network returns.
  await waitForOfflineReady(page);
  await anas.context.setOffline(true);
  await openSheet();
  for (const { username } of others.slice(0, 2)) {
    await sheet.getByRole("checkbox", { name: username }).check({ force: true });
  }
  await sheet.locator("input[type=file]").setInputFiles([png]);
  const remove = sheet.getByRole("button", { name: /praia/ });
  await remove.click();
  await expect(remove).toHaveCount(0);
  await sheet.locator("input[type=file]").setInputFiles([png]);
  await expect(remove).toBeVisible();
  await sheet.getByRole("textbox", { name: texts.masolo.broadcastText }).fill("A praia");
  await send.click();
  await expect(sheet).toHaveCount(0);
  await anas.context.setOffline(false);
  const toBento = privateConversationId(ana.id, others[1].id);
  await expect
    .poll(async () => (await readServerMessages(site, others[1], toBento)).at(-1)?.body, { timeout: 30_000 })
    .toMatchObject({ type: "image", text: "A praia" });
  await expect(anas.conversation("Célia")).toContainText("Reunião às 18h");
  await anas.close();
});

test("the list finds people and conversations, shows drafts, and its rows have a menu", async ({ browser, server }) => {
  const site = toSite(server);
  const ana = await makePerson(site, 3330);
  const elodie = await makePerson(site, 3331, "Élodie Ngoma");
  const bruno = await makePerson(site, 3332, "Bruno");
  for (const other of [elodie, bruno]) await connectPeople(site, ana, other);
  const withElodie = privateConversationId(ana.id, elodie.id);
  await sendTexts(site, elodie, withElodie, ["un", "deux"]);
  const anas = await TestClient.open(browser, server, "en");
  const { page, texts } = anas;
  await anas.signIn(ana);
  const row = anas.conversation(elodie.username);
  await expect(row).toContainText("deux");

  // Search: a conversation by its name without accents, a contact by part of the number, no result, and by keyboard.
  const search = page.getByRole("searchbox", { name: texts.masolo.searchLabel });
  await search.fill("elodie");
  await expect(row).toContainText("deux");
  await expect(page.getByText(bruno.username)).toHaveCount(0);
  await search.fill("3332");
  const others = page.getByRole("region", { name: texts.masolo.otherContacts });
  await expect(others.getByRole("link")).toHaveCount(1);
  expect(await findAxeViolations(page)).toEqual([]);
  // A message by the beginnings of its words.
  await search.fill("deu");
  const found = page.getByRole("region", { name: texts.masolo.foundMessages }).getByRole("link");
  await expect(found).toHaveText(/Élodie Ngoma.*deux/);
  await search.fill("zzz");
  await expect(page.getByText(texts.masolo.noMatchTitle)).toBeVisible();
  await search.fill("BRU");
  await others.getByRole("link").focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/app/chat/${bruno.id}`);
  await anas.composer().fill("pas encore envoyé");
  await page.getByRole("link", { name: texts.common.back, exact: true }).click();
  await search.fill("");

  // A new chat is a contact chosen from a sheet; the draft of that chat is still there.
  await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.masolo.newChat }).click();
  const sheet = page.getByRole("dialog", { name: texts.masolo.newChat });
  await expect(sheet.getByRole("listitem")).toHaveCount(2);
  expect(await findAxeViolations(page)).toEqual([]);
  await sheet.getByRole("button", { name: bruno.username }).click();
  await expect(anas.composer()).toHaveValue("pas encore envoyé");
  await anas.write("envoyé");
  await anas.composer().fill("la suite");
  await page.getByRole("link", { name: texts.common.back, exact: true }).click();
  await expect(anas.conversation(bruno.username)).toContainText(`${texts.masolo.draft} la suite`);
  await page.getByRole("button", { name: texts.masolo.actions, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.masolo.newGroup }).click();
  await expect(page).toHaveURL("/app/create-group");
  await expect(page.getByRole("heading", { name: texts.groups.create.title })).toBeVisible();
  await page.goBack();

  // The row's menu by the right mouse button: mark read, mute, clear.
  const menu = async (item: string) => {
    await row.click({ button: "right" });
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };
  const unread = fill(texts.masolo.unread_other, { count: 2 });
  await expect(row).toContainText(unread);
  await menu(texts.masolo.markRead);
  await expect(row).not.toContainText(unread);
  await search.fill("deu");
  await found.click();
  await expect(page).toHaveURL(`/app/chat/${elodie.id}`);
  await expect(anas.message("deux")).toBeVisible();
  await page.getByRole("link", { name: texts.common.back, exact: true }).click();
  await search.fill("");
  await expect(found).toHaveCount(0); // also a link with this name
  await menu(texts.mute.on);
  await page.getByRole("button", { name: texts.mute.for.always, exact: true }).click();
  await expect(page.getByRole("status").getByText(texts.mute.isOn, { exact: true })).toBeVisible();
  await expect(row.getByRole("img", { name: texts.mute.isOn })).toBeVisible();
  await menu(texts.chat.clear);
  const dialog = page.getByRole("alertdialog", { name: texts.chat.clearTitle });
  await dialog.getByRole("button", { name: texts.chat.clearConfirm }).click();
  await expect(page.getByRole("status").getByText(texts.chat.cleared)).toBeVisible();
  // A cleared conversation stays in the list, a deleted one does not.
  await expect(row).toContainText(texts.masolo.nothingLeft);
  await page.reload();
  await expect(row).toContainText(texts.masolo.nothingLeft);
  await menu(texts.masolo.delete);
  await page.getByRole("alertdialog").getByRole("button", { name: texts.common.delete }).click();
  await expect(page.getByRole("status").getByText(texts.masolo.conversationDeleted)).toBeVisible();
  await expect(row).toHaveCount(0);
  await anas.close();
});
