import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  countStoredMessages,
  firstView,
  holdScripts,
  makeChat,
  openCold,
  openPhone,
} from "#tests/support/browser/cold-start.ts";
import { readStoreTransactions, recordStoreTransactions } from "#tests/support/browser/store-transactions.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";

/**
 * Transactions from the first script to the takeover, without those that an answer of the server causes. The budget of
 * docs/decisions/late-connection.md.
 */
const limits = { "cold list": 8, "warm list": 8, "cold chat": 9, "warm chat": 10 };

test("the app opens few transactions before it replaces the first view", async ({ browser, server }) => {
  const { ana, ben } = await makeChat(toSite(server), 9091, ["premier", "tout dernier"]);
  const counts: Partial<typeof limits> = {};
  for (const [name, path] of [
    ["list", "/app"],
    ["chat", `/app/chat/${ana.id}`],
  ] as const) {
    const client = await openPhone(browser, server);
    const page = await openCold(client, ben);
    await recordStoreTransactions(page);
    // Answers would be stored before the takeover or after it.
    await page.routeWebSocket("**/api/socket*", () => {});
    await page.route("**/api/**", () => {});
    for (const state of ["cold", "warm"] as const) {
      await page.goto(path, { waitUntil: "commit" });
      await waitForTakeover(page);
      const transactions = await readStoreTransactions(page);
      counts[`${state} ${name}`] = transactions.length;
    }
    await client.close();
  }
  for (const [name, limit] of Object.entries(limits))
    expect(counts[name as keyof typeof limits], name).toBeLessThanOrEqual(limit);
});

test("the store holds the messages of the document before the screens and their library have arrived", async ({
  browser,
  server,
}) => {
  const { ana, ben } = await makeChat(toSite(server), 9093, ["premier", "tout dernier"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(page, "**/assets/{vendor,app}-*.js");
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect.poll(() => countStoredMessages(page)).toBe(2);
  await expect(firstView(page)).not.toBeEmpty();
  release();
  await waitForTakeover(page);
  await expect(page.getByText("tout dernier")).toBeVisible();
  await client.close();
});
