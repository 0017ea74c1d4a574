import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import type { TestClient } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

const startMs = 20_000; // five seconds, on a busy machine
const retryMs = 40_000;

/** Banner that says that what is written is kept on this page only. */
const findBanner = (client: TestClient, page: Page) =>
  page.getByRole("status").getByText(client.texts.shell.storage.unreachable, { exact: true });

const release = (page: Page): Promise<void> => page.evaluate(() => Reflect.get(window, "release")());

/** Keeps a write transaction over all tables open until `release`. */
const holdTransaction = (page: Page, name: string): Promise<void> =>
  page.evaluate(async (name) => {
    const opening = indexedDB.open(name);
    await new Promise((resolve) => opening.addEventListener("success", resolve));
    const database = opening.result;
    const store = database.transaction([...database.objectStoreNames], "readwrite").objectStore("meta");
    let isHeld = true;
    const hold = () => {
      if (isHeld) store.get("held").onsuccess = hold;
    };
    hold();
    const end = () => {
      isHeld = false;
      database.close();
    };
    Object.assign(window, { release: end });
  }, name);

test("a page starts from the server while another page holds the database, and loses nothing", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9794, ["bonjour"]);
  const client = await openPhone(browser, server);
  const other = await openCold(client, ben);
  await other.goto(`/app/chat/${ana.id}`);
  await expect(client.message("bonjour", other)).toBeVisible();
  await expect(firstView(other)).toHaveCount(0);
  await other.goto("/favicon.svg");
  await holdTransaction(other, `lisolo-${ben.id}`);

  const page = await client.context.newPage();
  await page.goto(`/app/chat/${ana.id}`);
  await expect(findBanner(client, page)).toBeVisible({ timeout: startMs });
  await expect(firstView(page)).toHaveCount(0, { timeout: startMs });
  await expect(client.message("bonjour", page)).toBeVisible();
  await client.write("un", page);
  await expect(client.ticks("un", "sent", page)).toBeVisible();
  await client.composer(page).fill("un brouillon");

  await release(other);
  await expect(findBanner(client, page)).toHaveCount(0, { timeout: retryMs });
  await expect(client.composer(page)).toHaveValue("un brouillon");
  await expect(client.message("un", page)).toHaveCount(1);
  await client.write("deux", page);
  await expect(client.ticks("deux", "sent", page)).toBeVisible();
  await client.composer(page).fill("un autre");
  await page.reload();
  await expect(client.composer(page)).toHaveValue("un autre");
  await expect(findBanner(client, page)).toHaveCount(0);
  for (const text of ["bonjour", "un", "deux"]) await expect(client.message(text, page)).toHaveCount(1);
  const texts = (await readServerLog(site, ana, conversation)).map(({ text }) => text);
  expect(texts).toEqual(["bonjour", "un", "deux"]);
});

test("texts of the first view are sent although the database cannot be opened, and are stored once it can", async ({
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
  await firstView(page).getByRole("textbox").click();
  await page.keyboard.type("un");
  await page.keyboard.press("Enter");
  await page.keyboard.type("deux");
  await expect(findBanner(client, page)).toBeVisible({ timeout: startMs });
  await expect(firstView(page)).toHaveCount(0, { timeout: startMs });
  await expect(client.composer(page)).toHaveValue("deux");
  await expect(client.composer(page)).toBeFocused();
  const readTexts = async () => (await readServerLog(site, ana, conversation)).map(({ text }) => text);
  await expect.poll(readTexts).toEqual(["bonjour", "un"]);

  await release(blocking);
  await expect(findBanner(client, page)).toHaveCount(0, { timeout: retryMs });
  await expect(client.composer(page)).toHaveValue("deux");
  await expect(client.message("un", page)).toHaveCount(1);
  await page.reload();
  await expect(client.message("un", page)).toHaveCount(1);
  await expect(client.composer(page)).toHaveValue("deux");
  expect(await readTexts()).toEqual(["bonjour", "un"]);
});
