import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  openReader,
  report,
  reportName,
  type SendFiles,
  sendPicture,
  sendReport,
  watchFiles,
} from "#tests/support/browser/chat-files.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const openMenu = async (phone: TestClient, text: string) => {
  await phone.message(text).locator("bdi").first().click({ button: "right" });
};
const pick = (page: Page, label: string) => page.getByRole("menuitem", { name: label, exact: true }).click();

test("a message is copied, forwarded with its file to two at once, and deleted for everybody", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const sendAll: SendFiles = async (_, by, conversation) => {
    await sendReport(site, by, conversation);
    await sendPicture(site, by, conversation, "photo.png", 0, "Une légende");
    await sendTexts(site, by, conversation, ["à copier"]);
  };
  const opened = await openReader(browser, server, 544, sendAll, withServiceWorker);
  const { ana, ben, phone, page, texts } = opened;
  const [chantal, blocked] = [await makePerson(site, 546), await makePerson(site, 547)];
  await connectPeople(site, ana, chantal);
  await connectPeople(site, ana, blocked);
  await callSite(site, "PUT", `/api/blocks/${blocked.id}`, { token: ana.token });
  const bens = await TestClient.open(browser, server);
  const failedReads: string[] = [];
  for (const { context } of [phone, bens])
    context.on("console", (message) => {
      if (message.text().startsWith("reading the local database failed")) failedReads.push(message.text());
    });
  await phone.signInToChat(ana, ben.id);
  await bens.signInToChat(ben, ana.id);

  // A text and a caption can be copied; without the browser's permission an error is shown.
  await phone.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const text of ["à copier", "Une légende"]) {
    await openMenu(phone, text);
    await pick(page, texts.copy);
    await expect(page.getByRole("status").getByText("Message copié dans le presse-papiers.")).toBeVisible();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(text);
  }
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("refused"));
  });
  await openMenu(phone, "à copier");
  await pick(page, texts.copy);
  await expect(page.getByRole("alert").getByText(texts.copyFailed)).toBeVisible();

  // By keyboard: open the menu of the newest message; the second above is the file's.
  const list = page.getByRole("list", { name: fill(phone.texts.chat.messages, { name: ben.username }) });
  await list.focus();
  const menus = page.getByRole("button", { name: texts.options.split("{")[0] ?? "" });
  await menus.last().focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await expect(menus.first()).toBeFocused();
  await page.keyboard.press("Enter");
  const asked = watchFiles(page);
  await pick(page, texts.forward);
  const dialog = page.getByRole("dialog", { name: texts.forwardTitle });
  const submit = dialog.getByRole("button", { name: fill(texts.forwardTo_one, { count: 0 }) });
  await expect(submit).toBeDisabled();
  await expect(dialog.getByRole("checkbox")).toHaveCount(2); // the blocked contact is not offered
  await dialog.getByRole("searchbox").fill("546");
  await expect(dialog.getByRole("checkbox")).toHaveCount(1);
  await dialog.getByRole("checkbox", { name: chantal.username }).check({ force: true });
  await dialog.getByRole("searchbox").fill("");
  await dialog.getByRole("checkbox", { name: ben.username }).check({ force: true });
  await waitForOfflineReady(page);
  await phone.context.setOffline(true); // it waits in the outbox
  await dialog.getByRole("button", { name: fill(texts.forwardTo_other, { count: 2 }) }).click();
  await expect(page.getByText("Message transféré à 2 contacts.")).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await expect(menus.first()).toBeFocused();
  await phone.context.setOffline(false);
  // Ben wrote it, so for him it says "You".
  await expect(bens.page.getByText(fill(texts.forwardedFrom, { name: texts.you }))).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText(fill(texts.forwardedFrom, { name: ben.username }))).toBeVisible();
  const chantals = `/api/conversations/${privateConversationId(ana.id, chantal.id)}/messages?before=9&limit=9`;
  await expect
    .poll(async () => JSON.stringify((await callSite(site, "GET", chantals, { token: chantal.token })).body))
    .toContain(reportName);
  expect(asked.filter((request) => !request.startsWith("GET"))).toEqual([]);
  const copy = bens.page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: texts.forwardedFrom.split("{")[0] ?? "" });
  const fetch = copy.getByRole("button", { name: fill(texts.fetchFile, { name: reportName }) });
  const [saved] = await Promise.all([bens.page.waitForEvent("download"), fetch.click()]);
  expect(readFileSync(await saved.path())).toEqual(report);

  // Only own messages can be deleted for everyone, also offline.
  await openMenu(phone, "à copier");
  await expect(page.getByRole("menuitem", { name: texts.copy, exact: true })).toBeVisible();
  await pick(page, phone.texts.common.delete);
  const question = page.getByRole("alertdialog", { name: "Êtes-vous sûr?" });
  await expect(question.getByRole("button")).toHaveText([phone.texts.common.cancel, texts.deleteForSelf]);
  await page.keyboard.press("Escape");
  await phone.write("à regretter");
  await expect(bens.message("à regretter")).toBeVisible();
  await expect(phone.ticks("à regretter", "read")).toBeVisible();
  await phone.context.setOffline(true);
  await openMenu(phone, "à regretter");
  await pick(page, phone.texts.common.delete);
  await question.getByRole("button", { name: texts.deleteForAll }).click();
  await expect(question).toHaveCount(0);
  await expect(page.getByRole("status").getByText("Message supprimé.")).toBeVisible();
  await expect(phone.message("à regretter")).toHaveCount(0);
  await expect(bens.message("à regretter")).toBeVisible();
  await phone.context.setOffline(false);
  for (const reader of [phone, bens]) {
    await expect(reader.message(reader.texts.chat.deletedMessage)).toBeVisible();
    await reader.page.reload();
    await expect(reader.message(reader.texts.chat.deletedMessage)).toBeVisible();
    await expect(reader.message("à regretter")).toHaveCount(0);
  }

  // Wherever the focus was before the menu opened, it moves to the message, or to the one after a deleted message.
  await phone.write("une");
  await phone.write("deux");
  await expect(phone.ticks("deux", "read")).toBeVisible();
  const focusTitle = () => page.getByRole("heading", { level: 1 }).last().focus();
  const menuOf = (text: string) => phone.message(text).locator("[data-message-menu]");
  await focusTitle();
  await openMenu(phone, "une");
  await pick(page, texts.forward);
  await dialog.getByRole("checkbox", { name: chantal.username }).check({ force: true });
  await dialog.getByRole("button", { name: fill(texts.forwardTo_one, { count: 1 }) }).click();
  await expect(dialog).toHaveCount(0);
  await expect(menuOf("une")).toBeFocused();
  await focusTitle();
  await openMenu(phone, "une");
  await pick(page, phone.texts.common.delete);
  await page.getByRole("alertdialog").getByRole("button", { name: texts.deleteForAll }).click();
  await expect(phone.message("une")).toHaveCount(0);
  await expect(menuOf("deux")).toBeFocused();
  expect(failedReads).toEqual([]);
  await phone.close();
  await bens.close();
});
