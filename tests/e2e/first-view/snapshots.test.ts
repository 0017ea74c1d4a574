import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { TestClient } from "#tests/support/browser/test-client.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { connectPeople, makePerson } from "#tests/support/people/people.ts";

const listSnapshots = (page: Page): Promise<string[]> =>
  page.evaluate(async () => (await (await caches.open("first-views")).keys()).map(({ url }) => new URL(url).pathname));

const view = (page: Page) => page.locator("#first-view");

test("the list and the last chat open from snapshots, offline too, and nothing of them stays after signing out", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9031), await makePerson(site, 9032)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["gardé pour plus tard"]);
  const client = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, ...withServiceWorker }),
    server,
    "fr",
    true,
  );
  await client.signInToChat(ben, ana.id);
  await waitForOfflineReady(client.page);
  await expect.poll(() => listSnapshots(client.page), { timeout: 15_000 }).toEqual(["/app", `/app/chat/${ana.id}`]);

  // Without the app's scripts and without a network the content is there.
  await client.context.setOffline(true);
  const page = await client.context.newPage();
  await page.addInitScript(() => {
    // Keeps the app from starting: only the document's own content remains.
    Object.defineProperty(window, "indexedDB", { get: () => undefined });
  });
  for (const path of ["/app", `/app/chat/${ana.id}`]) {
    await page.goto(path, { waitUntil: "commit" });
    const drawn = await page.evaluate(() => document.getElementById("first-view")?.textContent ?? "");
    expect(drawn).toContain("gardé pour plus tard");
  }
  await page.close();
  await client.context.setOffline(false);

  await client.goTo("/app/profile");
  await client.page.getByRole("button", { name: client.texts.profile.signOut, exact: true }).click();
  await client.page.waitForURL((url) => url.pathname === "/");
  await expect.poll(() => listSnapshots(client.page)).toEqual([]);
  await client.page.goto("/app", { waitUntil: "commit" });
  await expect(view(client.page).locator("> *")).toHaveCount(0);
  await client.close();
});

test("a snapshot of another day shows dates instead of times", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9033), await makePerson(site, 9034)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["hier encore"]);
  const client = await TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, ...withServiceWorker }),
    server,
    "fr",
    true,
  );
  await client.signIn(ben);
  await waitForOfflineReady(client.page);
  await expect.poll(() => listSnapshots(client.page), { timeout: 15_000 }).toEqual(["/app"]);
  await client.page.close();
  const page = await client.context.newPage();
  await client.context.setOffline(true);
  // The app may take over within a moment.
  await page.addInitScript(() => {
    const look = () => {
      const { textContent } = document.querySelector("#first-view time") ?? {};
      if (textContent) Object.assign(window, { drawnTime: textContent });
      else setTimeout(look, 1);
    };
    look();
  });
  const readTime = async () => {
    await page.waitForFunction(() => Reflect.get(window, "drawnTime"));
    return page.evaluate(() => String(Reflect.get(window, "drawnTime")));
  };
  await page.goto("/app", { waitUntil: "commit" });
  expect(await readTime()).toMatch(/^\d\d:\d\d$/);
  await page.clock.setFixedTime(Date.now() + 2 * 86_400_000);
  await page.goto("/app", { waitUntil: "commit" });
  expect(await readTime()).toMatch(/^\d\d\/\d\d\/\d{4}$/);
  await client.close();
});
