import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { reportName, sendPicture, sendReport, sendVoice } from "#tests/support/browser/chat-files.ts";
import { fill, TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

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
  await sendTexts(site, ben, id, [oldText]);
  await sendTexts(site, ana, id, ["Mosolo à rembourser"]);
  await sendTexts(site, ben, id, [...lines, "mosolo, encore une fois"]);
  await sendTexts(site, ben, group, ["On se retrouve au marché Mosolo", ...lines]);

  const phone = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const { page, texts } = phone;
  await phone.signIn(ana);
  await expect(phone.conversation("Ben Kasongo")).toContainText("mosolo, encore");
  await expect(phone.conversation("Famille")).toContainText("ligne 39");
  const field = page.getByRole("searchbox", { name: texts.masolo.searchLabel });
  const [stored, older] = [
    listResults(phone, texts.masolo.foundMessages),
    listResults(phone, texts.masolo.olderMessages),
  ];
  // The frame that replaces the list by the search has results already.
  const toFirstFrame = () =>
    page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const look = () => {
            const filters = document.querySelector("fieldset");
            if (!filters || getComputedStyle(filters).visibility === "hidden") requestAnimationFrame(look);
            else resolve(document.querySelectorAll("[aria-labelledby=found-messages] mark").length);
          };
          look();
        }),
    );
  await field.focus();
  const ready = page.getByRole("region", { name: texts.masolo.foundMessages, includeHidden: true });
  await expect(ready).toBeAttached();
  const firstFrame = toFirstFrame();
  await field.press("l");
  expect(await firstFrame).toBeGreaterThan(0);
  await expect(async () => {
    await field.fill("");
    await field.fill("MOSOLO");
    // Found on the server before the device has fetched it.
    await expect(stored).toHaveText([/Ben Kasongo.*mosolo, encore une fois/], { timeout: 3_000 });
  }).toPass();
  const [inGroup, inChat] = [/Famille · Ben Kasongo.*marché Mosolo/, /Ben Kasongo.*Le code du portail/];
  await expect(older).toHaveText([inGroup, /Ben Kasongo · Vous.*à rembourser/, inChat]);
  // What is deleted or edited meanwhile does not stay in the results, also of messages that only the server has.
  const change = (method: string, seq: number, body?: object, by = ben) =>
    callSite(site, method, `/api/conversations/${id}/messages/${seq}`, { token: by.token, body });
  expect((await change("PATCH", 2, { text: "mosolo remboursé", edit: 0 }, ana)).status).toBe(200);
  await expect(older).toHaveText([inGroup, /Ben Kasongo · Vous.*mosolo remboursé/, inChat]);
  expect((await change("DELETE", 2, undefined, ana)).status).toBe(200);
  await expect(older).toHaveText([inGroup, inChat]);
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
  expect((await change("DELETE", 42)).status).toBe(200);
  await expect(stored).toHaveCount(9);
  expect((await change("PATCH", 41, { text: "ligne corrigée", edit: 0 })).status).toBe(200);
  await expect(stored.filter({ hasText: "ligne corrigée" })).toHaveCount(1);
  expect((await change("PATCH", 41, { text: "sans ce mot", edit: 1 })).status).toBe(200);
  await expect(stored).toHaveCount(8);
  // What is sent meanwhile stands above.
  await sendTexts(site, ben, group, ["sans le mot", "ligne toute nouvelle"]);
  await expect(stored).toHaveCount(9);
  await expect(stored.first()).toHaveText(/Famille · Ben Kasongo.*ligne toute nouvelle/);
  await phone.context.setOffline(true);
  await field.fill("marche");
  await expect(page.getByText(texts.masolo.searchOffline)).toBeVisible();
  await expect(page.getByText(texts.masolo.noMatchTitle)).toBeVisible();
  await phone.context.setOffline(false);
  await expect(older).toHaveText([/Famille/]);
  await expect(page.getByText(texts.masolo.searchOffline)).toHaveCount(0);
  const kind = page.getByRole("combobox", { name: texts.searchFilters.kind, exact: true });
  await kind.selectOption(texts.gallery.image);
  await expect(page.getByText(texts.searchFilters.none)).toBeVisible();
  await page.getByRole("button", { name: texts.searchFilters.clear, exact: true }).click();
  await expect(older).toHaveText([/Famille/]);

  // A reload keeps the search and its filters, not in the address.
  await kind.selectOption(texts.gallery.image);
  await expect(page.getByText(texts.searchFilters.none)).toBeVisible();
  await page.reload();
  await expect(field).toHaveValue("marche");
  await expect(kind).toHaveValue("image");
  await expect(page.getByText(texts.searchFilters.none)).toBeVisible();
  await expect(page).toHaveURL("/app");
  // Somebody else who signs in does not see it.
  await page.evaluate(() => {
    const { search, ...state } = history.state;
    history.replaceState({ ...state, search: { ...search, of: "somebody else" } }, "");
  });
  await page.reload();
  await expect(phone.conversation("Ben Kasongo")).toBeVisible();
  await expect(field).toHaveValue("");

  // Back closes the search with its filters, also after a return from a chat, and only then leaves the list.
  await field.fill("marche");
  await kind.selectOption(texts.gallery.image);
  await page.goBack();
  await expect(field).toHaveValue("");
  await expect(phone.conversation("Ben Kasongo")).toBeVisible();
  await field.fill("marche");
  await older.click();
  await expect(phone.message("On se retrouve au marché Mosolo")).toBeInViewport();
  await page.goBack();
  await expect(field).toHaveValue("marche");
  await expect(stored.or(older)).toBeFocused(); // the device stores what the chat showed, sooner or later
  await page.goBack();
  await expect(field).toHaveValue("");
  await expect(page).toHaveURL("/app");
  await phone.close();
});

test("the messages of all chats are filtered by person, kind and date, also without a word", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben, cleo, dan] = [
    await makePerson(site, 7212, "Ana Mbuyi"),
    await makePerson(site, 7213, "Ben Kasongo"),
    await makePerson(site, 7214, "Cléo Ilunga"),
    await makePerson(site, 7215, "Dan Mukendi"),
  ];
  for (const other of [ben, cleo]) await connectPeople(site, ana, other);
  await connectPeople(site, ben, dan);
  await sendTexts(site, dan, await makeGroup(site, ben, "Travail", [ana, dan]), ["Bonjour"]);
  const group = await makeGroup(site, ana, "Famille", [ben, cleo]);
  const [withBen, withCleo] = [ben, cleo].map((other) => privateConversationId(ana.id, other.id));
  if (!withBen || !withCleo) throw new Error("unreachable");
  await sendPicture(site, ben, withBen, "ancienne.png", 0, "Au marché");
  const lines = Array.from({ length: 40 }, (_, n) => `ligne ${n}`);
  await sendTexts(site, cleo, withCleo, ["Au marché aussi", ...lines]);
  await sendTexts(site, ben, withBen, lines);
  await sendVoice(site, ben, withBen, 2_000);
  await sendReport(site, ben, withBen);
  await sendTexts(site, ben, group, ["Voir https://exemple.cd/marche"]);

  const client = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  const { page, texts } = client;
  const { searchFilters, gallery, masolo } = texts;
  await client.signIn(ana);
  await expect(client.conversation("Ben Kasongo")).toBeVisible();
  const field = page.getByRole("searchbox", { name: masolo.searchLabel });
  const select = (label: string) => page.getByRole("combobox", { name: label, exact: true });
  const found = page
    .getByRole("region")
    .filter({ has: page.getByRole("link") })
    .getByRole("link");

  // The filters appear with the first letter, and stay without one while they limit the search.
  await field.focus();
  await expect(select(searchFilters.kind)).toBeHidden();
  const row = client.conversation("Ben Kasongo");
  await expect(row).toBeVisible();
  await field.fill("m");
  await expect(select(searchFilters.kind)).toBeVisible();
  expect(await findAxeViolations(page)).toEqual([]);
  await expect(select(searchFilters.person).getByRole("option", { name: "Ben Kasongo" })).toBeAttached();
  await select(searchFilters.person).focus();
  // Also somebody who is only in a group with this person.
  await expect(select(searchFilters.person).getByRole("option", { name: dan.username })).toBeAttached();
  await select(searchFilters.person).selectOption({ label: "Ben Kasongo" });
  await field.fill("");
  await select(searchFilters.kind).selectOption({ label: gallery.image });
  await expect(found).toHaveText([/Ben Kasongo.*Au marché/]);
  await expect(page.getByRole("list", { name: masolo.list, exact: true })).toHaveCount(0);
  expect(await findAxeViolations(page)).toEqual([]);
  await select(searchFilters.kind).selectOption({ label: gallery.voice });
  await expect(found).toHaveText([/Ben Kasongo/]);
  await select(searchFilters.kind).selectOption({ label: gallery.file });
  await expect(found).toHaveText([new RegExp(reportName)]);
  await select(searchFilters.kind).selectOption({ label: gallery.link });
  await expect(found).toHaveText([/Famille · Ben Kasongo.*exemple\.cd/]);
  await select(searchFilters.kind).selectOption("");
  await field.fill("marche");
  await expect(found).toHaveText([/Famille.*exemple/, /Ben Kasongo.*Au marché/]);
  await select(searchFilters.date).selectOption({ label: searchFilters.older });
  await expect(page.getByText(searchFilters.none)).toBeVisible();
  await page.getByRole("button", { name: searchFilters.clear, exact: true }).press("Enter");
  await expect(select(searchFilters.person)).toBeFocused();
  await expect(found).toHaveText([/Famille.*exemple/, /Cléo Ilunga.*aussi/, /Ben Kasongo.*Au marché/]);

  // Without a network the filters apply to this device.
  await client.context.setOffline(true);
  await select(searchFilters.kind).selectOption({ label: gallery.file });
  await field.fill("");
  await expect(found).toHaveText([new RegExp(reportName)]);
  await client.context.setOffline(false);
  await page.getByRole("button", { name: searchFilters.clear, exact: true }).click();
  await expect(row).toBeVisible();

  // A chat that fits the screen has nothing below the found message.
  await field.fill("bonjour");
  await found.click();
  await expect(client.message("Bonjour")).toBeInViewport();
  await expect(client.composer()).toBeVisible();
  await expect(page.getByRole("button", { name: texts.chat.toLatest })).toHaveCount(0);
  await client.close();
});
