import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations, findAxeViolationsInBothThemes } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { fill, findToast, TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

/** Message with this text. */
const findMessage = (phone: TestClient, text: string) =>
  phone.page
    .getByRole("main")
    .getByRole("listitem")
    .filter({ has: phone.page.locator("bdi.whitespace-pre-wrap").getByText(text, { exact: true }) });

test("an author corrects a text by menu and keyboard, also offline and over a reload, and it reaches the other person", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 8861, "Ana Mbuyi"), await makePerson(site, 8862, "Ben")];
  await connectPeople(site, ana, ben);
  const anas = await TestClient.openIn(
    await browser.newContext({ ...withServiceWorker, baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
    "pt",
  );
  const conversation = privateConversationId(ana.id, ben.id);
  const arrived = () => readServerTexts(site, ben, conversation);
  await anas.signInToChat(ana, ben.id);
  const { page, texts } = anas;
  const field = page.getByRole("textbox", { name: texts.chat.editTitle });
  await anas.write("Rendez-vous à huit heures");
  await expect.poll(arrived).toEqual(["Rendez-vous à huit heures"]);

  // By the menu; the draft waits below.
  await anas.composer().fill("brouillon");
  await findMessage(anas, "Rendez-vous à huit heures").locator("bdi").last().click({ button: "right" });
  await page.getByRole("menuitem", { name: texts.messages.edit, exact: true }).click();
  await expect(field).toBeFocused();
  await expect(field).toHaveValue("Rendez-vous à huit heures");
  await expect(page.getByRole("main").getByRole("textbox")).toHaveCount(1);
  expect(await findAxeViolations(page)).toEqual([]);
  await field.fill("Rendez-vous à neuf heures");
  await field.press("Enter");
  await expect.poll(arrived).toEqual(["Rendez-vous à neuf heures"]);
  await expect(findMessage(anas, "Rendez-vous à neuf heures")).toContainText(texts.messages.edited);
  await expect(anas.composer()).toBeFocused();
  await expect(anas.composer()).toHaveValue("brouillon");

  // The other person's correction is seen at once.
  await sendTexts(site, ben, conversation, ["À midi"]);
  await expect(findMessage(anas, "À midi")).toBeVisible();
  await callSite(site, "PATCH", `/api/conversations/${conversation}/messages/2`, {
    token: ben.token,
    body: { text: "À minuit", edit: 0 },
  });
  await expect(findMessage(anas, "À minuit")).toContainText(texts.messages.edited);
  await expect(findMessage(anas, "À midi")).toHaveCount(0);
  expect(await findAxeViolationsInBothThemes(page)).toEqual([]);

  // By the keyboard from the empty field; Escape changes nothing.
  await anas.composer().fill("");
  await anas.composer().press("ArrowUp");
  await expect(field).toHaveValue("Rendez-vous à neuf heures");
  await field.fill("abandonné");
  await field.press("Escape");
  await expect(field).toHaveCount(0);
  await expect(findMessage(anas, "Rendez-vous à neuf heures")).toBeVisible();
  // What was typed can be brought back; without a change there is nothing to bring back.
  const undo = page.getByRole("button", { name: texts.masolo.undo });
  await expect(findToast(page).filter({ hasText: texts.chat.editCancelled })).toBeVisible();
  await undo.click();
  await expect(field).toHaveValue("abandonné");
  await field.fill("Rendez-vous à neuf heures");
  await field.press("Escape");
  await expect(field).toHaveCount(0);
  await expect(undo).toHaveCount(0);

  // Without a network, over a reload.
  await waitForOfflineReady(page);
  await anas.context.setOffline(true);
  await anas.composer().press("ArrowUp");
  await field.fill("Rendez-vous à dix heures");
  await page.getByRole("button", { name: texts.chat.saveEdit }).click();
  await expect(findMessage(anas, "Rendez-vous à dix heures").getByLabel(texts.chat.status.sending)).toBeVisible();
  await page.reload();
  await expect(findMessage(anas, "Rendez-vous à dix heures")).toBeVisible();
  expect(await arrived()).toEqual(["Rendez-vous à neuf heures", "À minuit"]);
  await anas.context.setOffline(false);
  await expect.poll(arrived, { timeout: 30_000 }).toEqual(["Rendez-vous à dix heures", "À minuit"]);
  await expect(findMessage(anas, "Rendez-vous à dix heures")).toHaveCount(1);

  // Right after sending: the message may not be shown yet.
  for (const text of ["un", "deux", "trois"]) {
    await anas.composer().fill(text);
    await anas.composer().press("Enter");
    await anas.composer().press("ArrowUp");
    await expect(field).toHaveValue(text);
    await field.press("Escape");
  }
  await anas.close();
});

test("edits that are being typed go on with the last one, are named at sign-out and stay when the contact ends", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 8863, "Ana Mbuyi"), await makePerson(site, 8864, "Ben")];
  await connectPeople(site, ana, ben);
  const phone = await TestClient.openIn(
    await browser.newContext({ ...withServiceWorker, baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
    "en",
  );
  await phone.signInToChat(ana, ben.id);
  const { page, texts } = phone;
  const field = page.getByRole("textbox", { name: texts.chat.editTitle });
  const edit = async (text: string, next: string) => {
    await findMessage(phone, text).locator("bdi").last().click({ button: "right" });
    await page.getByRole("menuitem", { name: texts.messages.edit, exact: true }).click();
    await field.fill(next);
  };
  await phone.write("premier");
  await phone.write("second");
  await expect(findMessage(phone, "second")).toBeVisible();
  await edit("second", "second corrigé");
  await edit("premier", "premier corrigé");
  await page.reload();
  await expect(field).toHaveValue("premier corrigé");
  // What stands in the field of one tab stays when another tab that opened it cancels it.
  const tab = await phone.context.newPage();
  await phone.openChat(ben.id, tab);
  const tabField = tab.getByRole("textbox", { name: texts.chat.editTitle });
  await expect(tabField).toHaveValue("premier corrigé");
  await tabField.press("Escape");
  await expect(tabField).toHaveCount(0);
  await tab.close();
  await page.reload();
  await expect(field).toHaveValue("premier corrigé");
  await field.press("Escape");
  await phone.composer().fill("un brouillon");

  // Both are still reachable in a chat that cannot be written to: a blocked one, also offline, and that of a former contact.
  const kept = page.getByRole("region", { name: texts.chat.keptText });
  const draft = page.getByRole("heading", { name: texts.groups.chat.leftDraft }).locator("..");
  const areReachable = async () => {
    await expect(kept).toContainText("second corrigé");
    await expect(kept.getByRole("button", { name: texts.messages.copy })).toBeVisible();
    await expect(kept.getByRole("button", { name: texts.chat.restoreKeptText })).toHaveCount(0);
    await expect(draft).toContainText("un brouillon");
    await expect(draft.getByRole("button", { name: texts.messages.copy })).toBeVisible();
  };
  await callSite(site, "PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  await expect(page.getByText(fill(texts.people.youBlocked, { name: "Ben" }))).toBeVisible();
  await areReachable();
  await waitForOfflineReady(page);
  await phone.context.setOffline(true);
  await page.reload();
  await areReachable();
  await phone.context.setOffline(false);
  await page.getByRole("button", { name: texts.people.unblock, exact: true }).click();
  await expect(field).toHaveValue("second corrigé");
  await callSite(site, "DELETE", `/api/contacts/${ana.id}`, { token: ben.token });
  await areReachable();
  const notice = page.getByText(texts.chat.mustBeConnected);
  await expect(notice).toBeVisible();
  expect((await kept.boundingBox())?.y).toBeLessThan((await notice.boundingBox())?.y ?? 0);
  expect(await findAxeViolations(page)).toEqual([]);
  await draft.getByRole("button", { name: texts.common.delete }).click();
  await expect(draft).toHaveCount(0);

  await phone.openRoute("/app/profile");
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  const dialog = page.getByRole("alertdialog", { name: texts.profile.unsentTitle });
  await expect(dialog).toContainText(texts.profile.unsentEdits_one.replace("{count}", "1"));
  await dialog.getByRole("button", { name: texts.profile.stay }).click();
  await phone.close();
});
