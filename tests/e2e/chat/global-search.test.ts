import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

const listResults = ({ page }: TestClient, heading: string) =>
  page.getByRole("region", { name: heading, exact: true }).getByRole("link");

test("the list's search finds messages of all chats, older ones on the server, and opens the chat there", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7210, "Ana Mbuyi"), await makePerson(site, 7211, "Ben Kasongo")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  const group = await makeGroup(site, ana, "Famille", [ben]);
  const oldText = "Le code du portail est Mɔsɔlɔ";
  // A device fetches the newest 30 messages of a chat.
  const lines = Array.from({ length: 40 }, (_, n) => `ligne ${n}`);
  await sendTexts(site, ben, id, [oldText, ...lines, "mosolo, encore une fois"]);
  await sendTexts(site, ben, group, ["On se retrouve au marché Mosolo", ...lines]);

  const phone = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const { page, texts } = phone;
  await phone.signIn(ana);
  await expect(phone.conversation("Ben Kasongo")).toContainText("mosolo, encore");
  const field = page.getByRole("searchbox", { name: texts.masolo.searchLabel });
  const [stored, older] = [
    listResults(phone, texts.masolo.foundMessages),
    listResults(phone, texts.masolo.olderMessages),
  ];
  await field.fill("MOSOLO");
  await expect(stored).toHaveText([/Ben Kasongo.*mosolo, encore une fois/]);
  await expect(older).toHaveText([/Famille · Ben Kasongo.*marché Mosolo/, /Ben Kasongo.*Le code du portail/]);
  await expect(page.getByText(fill(texts.masolo.foundCount_other, { count: 3 }))).toBeAttached();
  expect(await findAxeViolations(page)).toEqual([]);
  await older.filter({ hasText: "Le code" }).press("Enter");
  await expect(page).toHaveURL(`/app/chat/${ben.id}`);
  await expect(phone.message(oldText)).toBeInViewport();

  // A message with enough results here has its others in the chat. Without a network only this device is searched.
  await page.getByRole("link", { name: texts.common.back, exact: true }).click();
  await field.fill("ligne");
  await expect(stored).toHaveCount(10);
  await expect(page.getByText(texts.masolo.foundMessagesHint)).toBeVisible();
  await phone.context.setOffline(true);
  await field.fill("marche");
  await expect(page.getByText(texts.masolo.searchOffline)).toBeVisible();
  await expect(page.getByText(texts.masolo.noMatchTitle)).toBeVisible();
  await phone.context.setOffline(false);
  await expect(older).toHaveText([/Famille/]);
  await expect(page.getByText(texts.masolo.searchOffline)).toHaveCount(0);
  await phone.close();

  const laptop = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  await laptop.signIn(ben);
  await expect(laptop.conversation("Ana Mbuyi")).toContainText("mosolo, encore");
  await laptop.page.getByRole("searchbox", { name: laptop.texts.masolo.searchLabel }).fill("portail");
  const own = listResults(laptop, laptop.texts.masolo.olderMessages);
  await expect(own).toHaveText([/Ana Mbuyi · Você.*Le code/]);
  expect(await findAxeViolations(laptop.page)).toEqual([]);
  await own.click();
  await expect(laptop.message(oldText)).toBeInViewport();
  await laptop.close();
});
