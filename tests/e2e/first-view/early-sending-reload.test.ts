import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { openWarm, watchPosts } from "#tests/support/browser/snapshots.ts";
import { type TestClient, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

const messagesPattern = "**/api/conversations/*/messages";

const writeEarly = async (page: Page, text: string): Promise<void> => {
  await firstView(page).getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
};

const earlyTicks = (client: TestClient, page: Page, text: string, status: "sending" | "sent") =>
  firstView(page)
    .getByRole("listitem")
    .filter({ has: page.locator("bdi").getByText(text, { exact: true }) })
    .getByRole("img", { name: client.texts.chat.status[status], exact: true });

test("after a press on Send the field has the focus, and what is typed next records nothing", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9461, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("un");
  await firstView(page).getByRole("button", { name: client.texts.chat.send }).tap();
  await page.keyboard.type("et la suite");
  await expect(firstView(page).getByRole("textbox")).toHaveValue("et la suite");
  release();
  await waitForTakeover(page);
  await expect(page.getByRole("textbox", { name: client.texts.chat.composer })).toHaveValue("et la suite");
  await client.close();
});

test("early messages without an answer are shown and sent after a reload, still before the scripts", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9463, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await client.context.route(messagesPattern, (route) => route.abort());
  await writeEarly(page, "perdu en route");
  await writeEarly(page, "encore un");
  await expect(earlyTicks(client, page, "encore un", "sending")).toBeVisible();
  await page.reload({ waitUntil: "commit" });
  await expect(earlyTicks(client, page, "perdu en route", "sending")).toBeVisible();
  await expect(earlyTicks(client, page, "encore un", "sending")).toBeVisible();
  await client.context.unroute(messagesPattern);
  await expect(earlyTicks(client, page, "encore un", "sent")).toBeVisible();
  // The server has the next one, but its answer is lost.
  await client.context.route(messagesPattern, async (route) => {
    await route.fetch();
    await route.abort();
  });
  const stored = client.context.waitForEvent(
    "request",
    (request) => request.postData()?.includes("réponse perdue") === true,
  );
  await writeEarly(page, "réponse perdue");
  await stored;
  const readTexts = async () => (await readServerLog(site, ana, conversation)).map(({ text }) => text);
  await expect.poll(readTexts).toContain("réponse perdue");
  await page.reload({ waitUntil: "commit" });
  await client.context.unroute(messagesPattern);
  await expect(earlyTicks(client, page, "réponse perdue", "sent")).toHaveCount(1);
  await writeEarly(page, "après");
  await expect(earlyTicks(client, page, "après", "sent")).toBeVisible();
  release();
  await waitForTakeover(page);
  await expect(client.message("après", page)).toHaveCount(1);
  await expect(client.message("réponse perdue", page)).toHaveCount(1);
  expect(await readTexts()).toEqual(["bonjour", "perdu en route", "encore un", "réponse perdue", "après"]);
  await client.close();
});

test("a text that the server would refuse is left to the app and stops nothing", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9465, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await holdScripts(client.context);
  const posted = watchPosts(client);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  for (const text of ["\u200b", "a\u0001b"]) {
    await writeEarly(page, text);
    await expect(firstView(page).getByRole("textbox")).toHaveValue(text);
  }
  await writeEarly(page, "👍🏽");
  await expect(earlyTicks(client, page, "👍🏽", "sent")).toBeVisible();
  expect(posted).toEqual(["👍🏽"]);
  await client.close();
});
