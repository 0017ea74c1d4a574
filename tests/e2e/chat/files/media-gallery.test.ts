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

test("images, voice messages, files and links of a chat are listed, also from the server; a search is limited to them and to a sender", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 7180, "Ana Mbuyi"), await makePerson(site, 7181, "Ben")];
  await connectPeople(site, ana, ben);
  const id = privateConversationId(ana.id, ben.id);
  await sendPicture(site, ben, id, "ancienne.png", 0, "La première");
  await sendVoice(site, ana, id, 2_000);
  await sendReport(site, ben, id);
  await sendTexts(site, ben, id, ["Voir https://exemple.cd/page.", ...Array.from({ length: 49 }, (_, n) => `a${n}`)]);
  await sendPicture(site, ben, id, "récente.png");
  await sendTexts(
    site,
    ben,
    id,
    Array.from({ length: 20 }, (_, n) => `b${n}`),
  );
  const group = await makeGroup(site, ana, "Famille", [ben]);
  await sendTexts(site, ana, group, ["le marché de Ana"]);
  await sendTexts(site, ben, group, ["le marché de Ben", "le bus"]);
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
  await page.getByRole("button", { name: texts.chat.toLatest }).click();
  await openGallery(phone);
  const tab = (name: string) => gallery.getByRole("tab", { name, exact: true });
  await tab(texts.gallery.image).press("ArrowRight");
  await expect(tab(texts.gallery.voice)).toBeFocused();
  await expect(gallery.getByRole("button", { name: texts.messages.playVoice })).toBeVisible();
  await expect(gallery.getByRole("list", { name: texts.gallery.voice }).getByRole("listitem")).toContainText(
    texts.messages.you,
  );
  await tab(texts.gallery.voice).press("ArrowRight");
  await expect(gallery.getByRole("listitem")).toContainText(reportName);
  await tab(texts.gallery.file).press("ArrowRight");
  await expect(gallery.getByRole("link", { name: "https://exemple.cd/page" })).toHaveAttribute(
    "href",
    "https://exemple.cd/page",
  );
  expect(await findAxeViolations(page)).toEqual([]);
  await tab(texts.gallery.image).click();
  await expect(images).toHaveCount(2);
  await callSite(site, "DELETE", `/api/conversations/${id}/messages/54`, { token: ben.token });
  await expect(images).toHaveCount(1);
  await page.goBack();
  await expect(gallery).toHaveCount(0);
  await expect(phone.composer()).toBeVisible();

  // Without a network: what this device has, and that there may be more.
  await phone.context.setOffline(true);
  await openGallery(phone);
  await expect(gallery.getByRole("alert")).toContainText(texts.gallery.offline);
  await phone.context.setOffline(false);

  await page.keyboard.press("Escape");
  await expect(gallery).toHaveCount(0);

  // The search of the chat is limited to a kind and a period, without a text.
  await choose(phone, texts.chat.search);
  const filter = (name: string) => page.getByRole("combobox", { name, exact: true });
  const results = page.getByRole("list", { name: texts.chat.foundList }).getByRole("listitem");
  await filter(texts.searchFilters.kind).selectOption(texts.gallery.file);
  await expect(results).toHaveText([new RegExp(reportName)]);
  await filter(texts.searchFilters.kind).selectOption(texts.gallery.link);
  await filter(texts.searchFilters.date).selectOption(texts.searchFilters.today);
  await expect(results).toHaveText([/exemple/]);
  await expect(filter(texts.searchFilters.person)).toHaveCount(0);
  await filter(texts.searchFilters.date).selectOption(texts.searchFilters.older);
  await expect(page.getByText(texts.searchFilters.none)).toBeVisible();
  await filter(texts.searchFilters.date).selectOption(texts.searchFilters.anyDate);
  await results.getByRole("button").click();
  await expect(phone.message("Voir https://exemple.cd/page.")).toBeInViewport();

  // In a group it is limited to a sender, too, and to texts.
  await phone.openRoute(`/app/group/${group}`);
  await expect(phone.message("le bus")).toBeVisible();
  await choose(phone, texts.chat.search);
  await page.getByRole("combobox", { name: texts.searchFilters.person }).focus();
  await page.getByRole("combobox", { name: texts.searchFilters.person }).selectOption("Ben");
  await expect(results).toHaveText([/le bus/, /le marché de Ben/]);
  await page.getByRole("searchbox", { name: texts.chat.searchLabel }).fill("marche");
  await expect(results).toHaveText([/le marché de Ben/]);
  await page.getByRole("combobox", { name: texts.searchFilters.person }).selectOption(texts.common.you);
  await expect(results).toHaveText([/le marché de Ana/]);
  expect(await findAxeViolations(page)).toEqual([]);
  await filter(texts.searchFilters.kind).selectOption(texts.searchFilters.text);
  await filter(texts.searchFilters.person).selectOption("Ben");
  await page.getByRole("searchbox", { name: texts.chat.searchLabel }).fill("");
  await expect(results).toHaveText([/le bus/, /le marché de Ben/]);
  await phone.close();
});
