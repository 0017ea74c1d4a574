import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { makePair, toSite } from "#tests/support/people/pair.ts";

const startTimeoutMs = 60_000; // the badge is set by code that waits until the app is idle

test("the icon of the app shows the number of unread messages, until they are read and after a sign-out none", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { people } = await makePair(site, 9_835);
  const [ana, ben] = people;
  await sendTexts(site, ben, privateConversationId(ana.id, ben.id), ["un", "deux"]);
  const phone = await TestClient.open(browser, server);
  const { page, texts } = phone;
  const badges: number[] = [];
  await page.exposeFunction("recordBadge", (count: number) => badges.push(count));
  await page.addInitScript(() => {
    const record = (count: number) => Reflect.get(window, "recordBadge")(count);
    Object.defineProperties(navigator, {
      setAppBadge: { value: async (count: number) => record(count) },
      clearAppBadge: { value: async () => record(-1) },
    });
  });
  await phone.signIn(ana);
  await expect(phone.conversation(ben.username)).toBeVisible();
  await expect.poll(() => badges.at(-1), { timeout: startTimeoutMs }).toBe(2);
  await phone.conversation(ben.username).click();
  await expect.poll(() => badges.at(-1)).toBe(0);
  await phone.openRoute("/app/profile");
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await page.waitForURL(/\/$/);
  expect(badges).toContain(-1);
  await phone.close();
});
