import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

const findMessage = (phone: TestClient, text: string) =>
  phone.page.getByRole("main").getByRole("listitem").filter({ hasText: text }).last();
const openMenu = (phone: TestClient, text: string) =>
  findMessage(phone, text).locator("bdi").last().click({ button: "right" });
const fill = (text: string, emoji: string, count = 1) =>
  text.replace("{emoji}", emoji).replace("{count}", String(count));

test("two people react by menu, pill, keyboard and search, offline too, and see who reacted", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 8811, "Ana Mbuyi"), await makePerson(site, 8812, "Ben")];
  await connectPeople(site, ana, ben);
  const id = await makeGroup(site, ana, "Famille", [ben]);
  const lines = Array.from({ length: 30 }, (_, n) => `ligne ${n}`);
  await sendTexts(site, ben, id, [...lines, "On y va demain"]);
  const anas = await TestClient.openIn(
    await browser.newContext({ ...withServiceWorker, baseURL: server.origin, viewport: { width: 360, height: 740 } }),
    server,
  );
  const bens = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, viewport: { width: 1280, height: 800 }, colorScheme: "dark" }),
    server,
    "pt",
  );
  await anas.signIn(ana, `/app/group/${id}`);
  await bens.signIn(ben, `/app/group/${id}`);
  const { page, texts } = anas;
  const own = (phone: TestClient, emoji: string) =>
    findMessage(phone, "On y va demain").getByRole("button", { name: fill(phone.texts.reactions.countOwn_one, emoji) });
  const both = (phone: TestClient, emoji: string) =>
    findMessage(phone, "On y va demain").getByRole("button", {
      name: fill(phone.texts.reactions.countOwn_other, emoji, 2),
    });
  const others = (phone: TestClient, emoji: string) =>
    findMessage(phone, "On y va demain").getByRole("button", { name: fill(phone.texts.reactions.count_one, emoji) });

  // By the menu; the other person's list stays at its end although the row grew, and nothing is unread.
  const react = async () => {
    await openMenu(anas, "On y va demain");
    await page.getByRole("menuitemcheckbox", { name: fill(texts.reactions.react, "👍") }).click();
    await expect(own(anas, "👍")).toHaveAttribute("aria-pressed", "true");
  };
  await react();
  // The focus stays at the message when the last reaction of a kind goes.
  await own(anas, "👍").press("Enter");
  await expect(own(anas, "👍")).toHaveCount(0);
  const menuButton = texts.messages.options.split("{")[0] ?? "";
  await expect(findMessage(anas, "On y va demain").getByRole("button", { name: menuButton })).toBeFocused();
  await react();
  await expect(others(bens, "👍")).toBeInViewport({ ratio: 1 });

  // By the pill, and again to remove it.
  await others(bens, "👍").click();
  await expect(both(bens, "👍")).toBeVisible();
  await expect(both(anas, "👍")).toBeVisible();
  expect(await findAxeViolations(bens.page)).toEqual([]);
  await both(bens, "👍").click();
  await expect(own(anas, "👍")).toBeVisible();

  // By keyboard and the search of the picker.
  const options = bens.texts.messages.options.split("{")[0] ?? "";
  await findMessage(bens, "On y va demain").getByRole("button", { name: options }).focus();
  await bens.page.keyboard.press("Enter");
  await bens.page.getByRole("menuitemcheckbox", { name: bens.texts.reactions.choose }).press("Enter");
  await bens.page.getByRole("searchbox", { name: bens.texts.reactions.search }).fill("foguete");
  await expect(bens.page.getByRole("dialog").getByRole("button", { name: "foguete" })).toBeVisible();
  expect(await findAxeViolations(bens.page)).toEqual([]);
  await bens.page.keyboard.press("Enter");
  await expect(own(bens, "🚀")).toBeVisible();
  await expect(others(anas, "🚀")).toBeVisible();

  // Without a network: shown at once, kept over a reload, sent when it is back.
  await waitForOfflineReady(page);
  const cached = await page.evaluate(async () => (await (await caches.open("shell")).keys()).map(({ url }) => url));
  expect(cached.filter((url) => /emoji-(fr|en|pt)-/.test(url))).toEqual([]); // not before the search has used them
  await anas.context.setOffline(true);
  await others(anas, "🚀").click();
  await expect(both(anas, "🚀")).toBeVisible();
  await page.reload();
  await expect(both(anas, "🚀")).toBeVisible();
  await anas.context.setOffline(false);
  await expect(both(bens, "🚀")).toBeVisible({ timeout: 30_000 });

  // Who reacted.
  await openMenu(anas, "On y va demain");
  await page.getByRole("menuitem", { name: texts.reactions.show }).click();
  const sheet = page.getByRole("dialog", { name: texts.reactions.title });
  await expect(sheet.getByRole("listitem").filter({ hasText: "Ben" })).toContainText("🚀");
  const name = page.getByText(texts.common.you, { exact: true });
  await expect(sheet.getByRole("listitem").filter({ has: name })).toContainText("🚀");
  expect(await findAxeViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await openMenu(anas, "On y va demain");
  await page.getByRole("menuitemcheckbox", { name: fill(texts.reactions.react, "❤️") }).click();
  await expect(others(bens, "❤️")).toBeVisible();

  // Deleted with the message.
  await callSite(site, "DELETE", `/api/conversations/${id}/messages/32`, { token: ben.token });
  await expect(findMessage(anas, texts.chat.deletedMessage)).toBeVisible();
  await expect(page.getByText("🚀")).toHaveCount(0);
  await anas.close();
  await bens.close();
});
