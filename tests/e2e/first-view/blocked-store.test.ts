import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

test("the first view stays usable while the store cannot be opened, and nothing written there is lost", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9792, ["bonjour"]);
  const client = await openPhone(browser, server);
  // A tab with an older store that does not close it.
  const blocking = await openCold(client, ben);
  await blocking.evaluate(async (name) => {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("old");
    await new Promise((resolve) => opening.addEventListener("success", resolve));
    Object.assign(window, { release: () => opening.result.close() });
  }, `lisolo-${ben.id}`);

  const page = await client.context.newPage();
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  const field = firstView(page).getByRole("textbox");
  await field.click();
  await page.keyboard.type("un");
  await page.keyboard.press("Enter");
  await expect(page.locator("#root [role=status]").first()).toBeAttached({ timeout: 30_000 });
  await page.waitForTimeout(23_000); // longer than the app waits for its screens
  await page.keyboard.type("deux");
  await page.keyboard.press("Enter");
  await page.keyboard.type("trois");
  await expect(firstView(page).getByText("deux", { exact: true })).toBeVisible();
  await expect(field).toHaveValue("trois");

  await blocking.evaluate(() => Reflect.get(window, "release")());
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  await expect(client.composer(page)).toHaveValue("trois");
  await expect(client.composer(page)).toBeFocused();
  const readTexts = async () => (await readServerLog(site, ana, conversation)).map(({ text }) => text);
  await expect.poll(readTexts).toEqual(["bonjour", "un", "deux"]);
  await expect(client.message("deux", page)).toHaveCount(1);
});
