import { expect, test } from "#tests/support/browser/browser-test.ts";
import { fill, findToast, TestClient, waitForWelcome, withholdContent } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";

test("a person without contacts is led to the search for people, a person with contacts to their list; a notice is shown above the bar and opens the chat with a new contact", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_940, "Ana Mbuyi"), await makePerson(site, 9_941, "Ben Kasongo")];
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await phone.signIn(ana);
  const links = page.getByRole("main").getByRole("link");
  await expect(page.getByText(texts.masolo.emptyNewcomer)).toBeVisible();
  await expect(links.filter({ hasText: texts.masolo.emptyContacts })).toHaveCount(0);
  await expect(links.filter({ hasText: texts.masolo.emptySenga })).toBeVisible();
  await connectPeople(site, ana, await makePerson(site, 9_944, "Cléo Ilunga"));
  await expect(links.filter({ hasText: texts.masolo.emptyContacts })).toBeVisible();
  await expect(page.getByText(texts.masolo.emptyBody)).toBeVisible();

  await callSite(site, "POST", "/api/requests", { token: ben.token, body: { to_user_id: ana.id } });
  await phone.goToTab("senga");
  await page.getByRole("button", { name: fill(texts.senga.acceptName, { name: "Ben Kasongo" }) }).click();
  const toast = findToast(page).filter({ hasText: "Ben Kasongo" });
  await expect(toast).toBeVisible();
  const bar = page.getByRole("navigation", { name: texts.shell.navigation });
  const search = page.getByRole("searchbox", { name: texts.senga.searchLabel });
  const bottomOf = async (of: typeof toast) => {
    const box = await of.boundingBox();
    return (box?.y ?? 0) + (box?.height ?? 0);
  };
  await expect.poll(async () => (await bottomOf(toast)) <= ((await bar.boundingBox())?.y ?? 0)).toBe(true);
  expect((await toast.boundingBox())?.y).toBeGreaterThan(await bottomOf(search));
  await toast.getByRole("button", { name: texts.senga.message }).click();
  await expect(phone.composer()).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`/app/chat/${ben.id}$`));
  await expect(toast).toHaveCount(0);
  await phone.close();
});

test("the browser's offline event is shown at once, and a working connection overrules it; a chat whose person cannot be loaded says so, and tries again", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_945, "Ana Mbuyi"), await makePerson(site, 9_946, "Ben Kasongo")];
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const up = waitForWelcome(page);
  await phone.signIn(ana);
  await up;
  const banner = page.getByText(texts.shell.link.offline);
  await expect(banner).toHaveCount(0);
  await page.evaluate(() => {
    Object.defineProperty(navigator, "onLine", { configurable: true, get: () => false });
    dispatchEvent(new Event("offline"));
  });
  await expect(banner).toBeVisible();
  const lineHeight = 32;
  expect((await page.getByRole("status").filter({ has: banner }).boundingBox())?.height).toBeLessThanOrEqual(
    lineHeight,
  );
  await expect(banner).toHaveCount(0);
  await page.evaluate(() => Reflect.deleteProperty(navigator, "onLine"));

  const path = `**/api/users/${ben.id}`;
  await page.route(path, (route) => route.fulfill({ status: 503, body: "" }));
  await phone.openRoute(`/app/chat/${ben.id}`);
  await expect(page.getByText(texts.chat.contactFailed)).toBeVisible();
  await expect(page.getByText(texts.chat.mustBeConnected)).toHaveCount(0);
  await page.unroute(path);
  await page.getByRole("button", { name: texts.common.retry }).click();
  // Then the server reports that this person does not exist for her.
  await expect(findToast(page)).toContainText(texts.chat.userNotFound);
  await expect(page).toHaveURL(/\/app$/);
  await phone.close();
});

test("a failure to load conversations is reported instead of waiting silently", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9_947, "Ana Mbuyi"), await makePerson(site, 9_948, "Ben Kasongo")];
  await connectPeople(site, ana, ben);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  await withholdContent(phone.context);
  await page.routeWebSocket(/\/api\/socket/, (socket) => socket.close());
  await page.route("**/api/**", (route) => route.abort());
  await phone.signIn(ana);
  await expect(page.getByText(texts.masolo.loadFailed)).toBeVisible({ timeout: 60_000 });
  await phone.close();
});
