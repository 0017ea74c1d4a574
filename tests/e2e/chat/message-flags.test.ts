import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const choose = async (client: TestClient, words: string, item: string) => {
  await client.message(words).locator("bdi").first().click({ button: "right" });
  await client.page.getByRole("menuitem", { name: item, exact: true }).click();
};
const deleteForSelf = async (client: TestClient, words: string) => {
  const dialog = client.page.getByRole("alertdialog", { name: client.texts.messages.deleteTitle });
  await choose(client, words, client.texts.common.delete);
  await dialog.getByRole("button", { name: client.texts.messages.deleteForSelf }).click();
  await expect(dialog).toHaveCount(0);
  await expect(client.message(words)).toHaveCount(0);
};
const findStar = (client: TestClient, words: string) =>
  client.message(words).getByRole("img", { name: client.texts.messages.starred });
const listStars = ({ page, texts }: TestClient) =>
  page.getByRole("list", { name: texts.starred.title }).getByRole("listitem");

test("messages are starred and deleted for oneself on two devices, offline too, and found again from the list", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9681, "Ana Mbuyi"), await makePerson(site, 9682, "Ben")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  const lines = Array.from({ length: 70 }, (_, n) => `ligne ${n}`);
  await sendTexts(site, ben, id, ["Le code est 4821", ...lines]);
  await sendTexts(site, ana, id, ["Rendez-vous à midi"]);
  await sendTexts(site, ben, id, ["À demain"]);
  const phone = await TestClient.openIn(
    await browser.newContext({ ...withServiceWorker, baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const laptop = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "en",
  );
  await phone.signInToChat(ana, ben.id);
  await laptop.signInToChat(ana, ben.id);
  const { page, texts } = phone;

  // A star is shown on both devices.
  await choose(phone, "À demain", texts.starred.add);
  await expect(findStar(phone, "À demain")).toBeVisible();
  await expect(findStar(laptop, "À demain")).toBeVisible();
  expect(await findAxeViolations(laptop.page)).toEqual([]);

  await deleteForSelf(phone, "ligne 68");
  await expect(laptop.message("ligne 68")).toHaveCount(0);

  // Without a network: shown at once, kept over a reload, and sent when it is back.
  await waitForOfflineReady(page);
  await phone.context.setOffline(true);
  await choose(phone, "Rendez-vous à midi", texts.starred.add);
  await page.reload();
  await expect(findStar(phone, "Rendez-vous à midi")).toBeVisible();
  await expect(findStar(laptop, "Rendez-vous à midi")).toHaveCount(0);
  await phone.context.setOffline(false);
  await expect(findStar(laptop, "Rendez-vous à midi")).toBeVisible({ timeout: 30_000 });

  // The list of one chat also has a message that this device must fetch. It opens the chat there.
  await callSite(site, "PATCH", `/api/conversations/${id}/messages/1/flags`, {
    token: ana.token,
    body: { starred: true },
  });
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: texts.starred.title, exact: true }).click();
  await expect(listStars(phone)).toHaveText([/Le code est 4821/, /Rendez-vous à midi/, /À demain/]);
  expect(await findAxeViolations(page)).toEqual([]);
  await listStars(phone).filter({ hasText: "4821" }).getByRole("button").first().click();
  await expect(phone.message("Le code est 4821")).toBeInViewport();

  // The list of all chats: a star is removed there, and the removal taken back.
  await laptop.page.getByRole("button", { name: laptop.texts.masolo.actions }).click();
  await laptop.page.getByRole("menuitem", { name: laptop.texts.starred.title, exact: true }).click();
  await expect(listStars(laptop)).toHaveCount(3);
  const remove = (words: string) =>
    listStars(laptop).filter({ hasText: words }).getByRole("button", { name: laptop.texts.starred.remove }).click();
  await remove("À demain");
  await expect(listStars(laptop)).toHaveCount(2);
  await laptop.page.getByRole("button", { name: laptop.texts.masolo.undo }).click();
  await expect(listStars(laptop)).toHaveCount(3);

  // A message that is deleted for everybody is in no list.
  await callSite(site, "DELETE", `/api/conversations/${id}/messages/1`, { token: ben.token });
  await expect(listStars(laptop)).toHaveText([/À demain/, /Rendez-vous à midi/]);

  // Messages of the other person are deleted for oneself, also without a network: from the chat, the stars and the preview.
  await page.getByRole("button", { name: texts.chat.toLatest }).click();
  await choose(phone, "ligne 69", texts.starred.add);
  await expect(findStar(phone, "ligne 69")).toBeVisible();
  await expect(listStars(laptop)).toHaveCount(3);
  await choose(phone, "ligne 69", texts.starred.remove);
  await expect(findStar(phone, "ligne 69")).toHaveCount(0);
  await expect(listStars(laptop)).toHaveCount(2);
  await phone.context.setOffline(true);
  await deleteForSelf(phone, "À demain");
  await page.reload();
  await expect(phone.message("Rendez-vous à midi")).toBeVisible();
  await expect(page.getByText("À demain")).toHaveCount(0);
  await expect(listStars(laptop)).toHaveCount(2);
  await phone.context.setOffline(false);
  await expect(listStars(laptop)).toHaveText([/Rendez-vous à midi/], { timeout: 30_000 });
  await expect(laptop.conversation("Ben")).toContainText("Rendez-vous à midi");

  // An own one, too. The other person keeps both.
  await laptop.conversation("Ben").click();
  await deleteForSelf(laptop, "Rendez-vous à midi");
  await expect(phone.message("Rendez-vous à midi")).toHaveCount(0);
  await laptop.page.goBack();
  await expect(laptop.page.getByText(laptop.texts.starred.none)).toBeVisible();
  const { body } = await callSite(site, "GET", `/api/conversations/${id}/messages?limit=2`, { token: ben.token });
  expect(JSON.stringify(body)).toMatch(/À demain.*Rendez-vous à midi/);
  await phone.close();
  await laptop.close();
});
