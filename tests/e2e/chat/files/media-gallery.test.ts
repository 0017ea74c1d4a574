import { privateConversationId } from "#contract/ids.ts";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { reportName, sendPicture, sendReport, sendVoice, watchFiles } from "#tests/support/browser/chat-files.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const choose = async ({ page, texts }: TestClient, item: string): Promise<void> => {
  await page.getByRole("button", { name: texts.common.more, exact: true }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
};
const openGallery = async (client: TestClient) => {
  const { title } = client.texts.gallery;
  await choose(client, title);
  return client.page.getByRole("dialog", { name: title });
};

test("images, voice messages, files and links of a chat are listed, also those that only the server has", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7180, "Ana Mbuyi"), await makePerson(site, 7181, "Ben")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  await sendPicture(site, ben, id, "ancienne.png", 0, "La première");
  await sendVoice(site, ben, id, 2_000);
  await sendReport(site, ben, id);
  await sendTexts(site, ben, id, ["Voir https://exemple.cd/page.", ...Array.from({ length: 49 }, (_, n) => `a${n}`)]);
  await sendPicture(site, ben, id, "récente.png");
  await sendTexts(
    site,
    ben,
    id,
    Array.from({ length: 20 }, (_, n) => `b${n}`),
  );
  const phone = await TestClient.open(browser, server);
  await phone.signInToChat(ana, ben.id);
  const { page, texts } = phone;
  await expect(phone.message("b19")).toBeVisible();

  // The grid loads no file. A picture opens in the viewer, and from there in the chat.
  const requests = watchFiles(page);
  const gallery = await openGallery(phone);
  const images = gallery.getByRole("list", { name: texts.gallery.image }).getByRole("listitem");
  await expect(images).toHaveCount(2);
  expect(requests).toEqual([]);
  expect(await findAxeViolations(page)).toEqual([]);
  await expect(images.first().getByRole("button", { name: "La première" })).toHaveCount(0);
  await images.nth(1).getByRole("button", { name: "La première" }).click();
  const viewer = page.getByRole("dialog", { name: texts.messages.viewer });
  await expect(viewer.getByText("La première")).toBeVisible();
  await expect.poll(() => new Set(requests).size).toBe(1);
  await viewer.getByRole("button", { name: texts.gallery.show }).click();
  await expect(gallery).toHaveCount(0);
  await expect(page.getByRole("main").getByText("La première", { exact: true })).toBeInViewport();

  // By keyboard through the other kinds; a picture that is deleted meanwhile goes.
  await phone.switchLanguage("pt");
  await page.reload();
  const portuguese = phone.texts.gallery;
  const again = await openGallery(phone);
  const tab = (name: string) => again.getByRole("tab", { name, exact: true });
  const left = again.getByRole("list", { name: portuguese.image }).getByRole("listitem");
  await tab(portuguese.image).press("ArrowRight");
  await expect(tab(portuguese.voice)).toBeFocused();
  await expect(again.getByRole("button", { name: phone.texts.messages.playVoice })).toBeVisible();
  await tab(portuguese.voice).press("ArrowRight");
  await expect(again.getByRole("listitem")).toContainText(reportName);
  await tab(portuguese.file).press("ArrowRight");
  await expect(again.getByRole("link", { name: "https://exemple.cd/page" })).toHaveAttribute(
    "href",
    "https://exemple.cd/page",
  );
  expect(await findAxeViolations(page)).toEqual([]);
  await tab(portuguese.image).click();
  await expect(left).toHaveCount(2);
  await callSite(site, "DELETE", `/api/conversations/${id}/messages/54`, { token: ben.token });
  await expect(left).toHaveCount(1);
  await page.goBack();
  await expect(again).toHaveCount(0);
  await expect(phone.composer()).toBeVisible();

  // Without a network: what this device has, and that there may be more.
  await phone.context.setOffline(true);
  await openGallery(phone);
  await expect(again.getByRole("alert")).toContainText(portuguese.offline);
  await phone.context.setOffline(false);

  // The other person sees what they sent, in another language.
  const laptop = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "en",
  );
  await laptop.signInToChat(ben, ana.id);
  const own = await openGallery(laptop);
  const { gallery: english, searchFilters } = laptop.texts;
  await expect(own.getByRole("list", { name: english.image }).getByRole("listitem")).toHaveCount(1);
  await own.getByRole("tab", { name: english.voice, exact: true }).click();
  await expect(own.getByRole("list", { name: english.voice }).getByRole("listitem")).toContainText(
    laptop.texts.messages.you,
  );
  expect(await findAxeViolations(laptop.page)).toEqual([]);
  await laptop.page.keyboard.press("Escape");
  await expect(own).toHaveCount(0);

  // The search of the chat is limited to a kind and a period, without a text.
  await choose(laptop, laptop.texts.chat.search);
  const filter = (name: string) => laptop.page.getByRole("combobox", { name, exact: true });
  const results = laptop.page.getByRole("list", { name: laptop.texts.chat.foundList }).getByRole("listitem");
  await filter(searchFilters.kind).selectOption(english.file);
  await expect(results).toHaveText([new RegExp(reportName)]);
  await filter(searchFilters.kind).selectOption(english.link);
  await filter(searchFilters.date).selectOption(searchFilters.today);
  await expect(results).toHaveText([/exemple/]);
  await expect(filter(searchFilters.person)).toHaveCount(0);
  expect(await findAxeViolations(laptop.page)).toEqual([]);
  await filter(searchFilters.date).selectOption(searchFilters.older);
  await expect(laptop.page.getByText(searchFilters.none)).toBeVisible();
  await filter(searchFilters.date).selectOption(searchFilters.anyDate);
  await results.getByRole("button").click();
  await expect(laptop.message("Voir https://exemple.cd/page.")).toBeInViewport();
});

test("a search in a group is limited to a sender", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7182, "Ana Mbuyi"), await makePerson(site, 7183, "Ben")];
  await connectPeople(site, ana, ben);
  const group = await makeGroup(site, ana, "Famille", [ben]);
  await sendTexts(site, ana, group, ["le marché de Ana"]);
  await sendTexts(site, ben, group, ["le marché de Ben", "le bus"]);
  const phone = await TestClient.open(browser, server, "pt");
  await phone.signIn(ana, `/app/group/${group}`);
  const { page, texts } = phone;
  await expect(phone.message("le bus")).toBeVisible();
  await choose(phone, texts.chat.search);
  await page.getByRole("combobox", { name: texts.searchFilters.person }).focus();
  await page.getByRole("combobox", { name: texts.searchFilters.person }).selectOption("Ben");
  const results = page.getByRole("list", { name: texts.chat.foundList }).getByRole("listitem");
  await expect(results).toHaveText([/le bus/, /le marché de Ben/]);
  await page.getByRole("searchbox", { name: texts.chat.searchLabel }).fill("marche");
  await expect(results).toHaveText([/le marché de Ben/]);
  await page.getByRole("combobox", { name: texts.searchFilters.person }).selectOption(texts.common.you);
  await expect(results).toHaveText([/le marché de Ana/]);
  expect(await findAxeViolations(page)).toEqual([]);

  await phone.switchLanguage("fr");
  await phone.goTo(`/app/group/${group}`);
  const { chat, searchFilters } = phone.texts;
  await choose(phone, chat.search);
  await page.getByRole("combobox", { name: searchFilters.kind }).selectOption(searchFilters.text);
  await page.getByRole("combobox", { name: searchFilters.person }).selectOption("Ben");
  await expect(page.getByRole("list", { name: chat.foundList }).getByRole("listitem")).toHaveText([
    /le bus/,
    /le marché de Ben/,
  ]);
});
