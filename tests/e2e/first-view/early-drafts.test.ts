import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { earlyTick, writeEarly } from "#tests/support/browser/early-messages.ts";
import { openWarm } from "#tests/support/browser/snapshots.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

test("an early text in two tabs that one of them sends, also after continuing it, leaves the other and is no draft", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9727, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const other = await client.context.newPage();
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("dans deux onglets");
  await other.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(other).getByRole("textbox")).toHaveValue("dans deux onglets");
  await page.bringToFront();
  await firstView(page).getByRole("textbox").press("Enter");
  await expect(firstView(other).getByRole("textbox")).toHaveValue("");
  await firstView(other).getByRole("textbox").press("Enter");
  await expect(earlyTick(client, page, "dans deux onglets", "sent")).toBeVisible();

  await firstView(page).getByRole("textbox").fill("un");
  await other.reload({ waitUntil: "commit" });
  await expect(firstView(other).getByRole("textbox")).toHaveValue("un");
  await page.bringToFront();
  await writeEarly(page, "un deux");
  await expect(firstView(other).getByRole("textbox")).toHaveValue("");
  await expect(earlyTick(client, page, "un deux", "sent")).toBeVisible();
  release();
  for (const tab of [page, other]) {
    await waitForTakeover(tab);
    for (const text of ["dans deux onglets", "un deux"])
      await expect(client.ticks(text, "sent", tab)).toBeVisible({ timeout: 30_000 });
  }
  await page.waitForTimeout(1_000); // a draft is saved after a pause in typing
  for (const tab of [page, other]) await expect(client.composer(tab)).toHaveValue("");
  expect(await readServerTexts(site, ben, conversation)).toEqual(["bonjour", "dans deux onglets", "un deux"]);
});

test("an early text that became a draft in another tab is none any more once it was continued and sent", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 7704, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(page);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("demain");
  const other = await client.context.newPage();
  await other.goto("/app");
  await waitForTakeover(other);
  await expect(other.getByRole("main").getByRole("listitem").filter({ hasText: "demain" })).toBeVisible();
  await page.bringToFront();
  await expect(firstView(page).getByRole("textbox")).toHaveValue("demain"); // it stays in the field
  await writeEarly(page, "demain soir");
  await expect(earlyTick(client, page, "demain soir", "sent")).toBeVisible();
  release();
  await expect(client.ticks("demain soir", "sent", page)).toBeVisible({ timeout: 30_000 });
  await page.reload({ waitUntil: "commit" });
  await expect(firstView(page)).toHaveCount(0);
  await expect(client.message("demain soir", page)).toHaveCount(1);
  await page.waitForTimeout(1_000); // a draft is stored after a pause in typing
  await expect(client.composer(page)).toHaveValue("");
  expect(await readServerTexts(site, ben, conversation)).toEqual(["bonjour", "demain soir"]);
});

test("an early text that a tab continues while the app starts in another one stays in both fields", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 7702, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(page);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  const field = firstView(page).getByRole("textbox");
  await field.fill("un");
  const other = await client.context.newPage();
  const releaseOther = await holdScripts(other);
  await other.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(other).getByRole("textbox")).toHaveValue("un");
  await field.fill("un deux");
  await expect(firstView(other).getByRole("textbox")).toHaveValue("un deux");
  releaseOther();
  await expect(firstView(other)).toHaveCount(0, { timeout: 30_000 });
  await expect(client.composer(other)).toHaveValue("un deux");
  await page.bringToFront();
  await expect(field).toHaveValue("un deux");
  release();
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  await expect(client.composer(page)).toHaveValue("un deux");
  // Also after a reload.
  const releaseNext = await holdScripts(page);
  await page.reload({ waitUntil: "commit" });
  await expect(field).toHaveValue("un deux");
  releaseNext();
  await expect(firstView(page)).toHaveCount(0);
  await expect(client.composer(page)).toHaveValue("un deux");
});

test("an early text is not lost although somebody types in the next page before its script has arrived, or sends a text in another tab", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 7712, ["bonjour"]);
  const client = await openPhone(browser, server);
  const first = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await first.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(first).getByRole("textbox").fill("un");
  await first.addInitScript(() => {
    const observer = new MutationObserver(() => {
      const field = document.querySelector<HTMLTextAreaElement>("#first-view textarea");
      if (!field) return;
      observer.disconnect();
      field.value = "deux";
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  await first.reload({ waitUntil: "commit" });
  await expect(firstView(first).getByRole("textbox")).toHaveValue("un\ndeux");
  expect(await first.evaluate(() => Object.values(localStorage).join())).toContain("un\\ndeux");
  await firstView(first).getByRole("textbox").fill("");
  await first.close();

  const [page, other] = [await client.context.newPage(), await client.context.newPage()];
  for (const tab of [page, other]) {
    await tab.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await expect(firstView(tab).getByRole("textbox")).toBeEditable();
  }
  await page.bringToFront();
  await firstView(page).getByRole("textbox").fill("le premier");
  await other.bringToFront();
  await firstView(other).getByRole("textbox").fill("le deuxième");
  await firstView(other).getByRole("textbox").press("Enter");
  await firstView(other).getByRole("textbox").fill("le troisième");
  await page.bringToFront();
  await page.reload({ waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toHaveValue("le troisième");
  release();
  await waitForTakeover(page);
  await expect(client.composer(page)).toHaveValue("le troisième");
  await expect(page.getByText("le premier")).toBeVisible(); // parked above the field
});

test("a text of a closed page that was parked beside the one of an open first view stays when that is closed too", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9440, ["bonjour"]);
  const client = await openPhone(browser, server);
  const first = await openCold(client, ben);
  const second = await client.context.newPage();
  for (const page of [first, second]) {
    await holdScripts(page);
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await expect(firstView(page).getByRole("textbox")).toBeEditable();
  }
  await firstView(second).getByRole("textbox").fill("le deuxième");
  await expect(firstView(first).getByRole("textbox")).toHaveValue("le deuxième");
  await firstView(first).getByRole("textbox").fill("le premier");
  const listEntries = () =>
    second.evaluate(() =>
      Object.entries(localStorage).flatMap(([key, text]) => (key.includes("-drafts-") ? text : [])),
    );
  await expect.poll(async () => (await listEntries()).length).toBe(2);
  const before = await listEntries();
  await first.close();
  // An app without a connection commits both texts; the open page writes its own again.
  const app = await client.context.newPage();
  await app.routeWebSocket("**/api/socket*", () => {});
  await app.route("**/api/**", () => {});
  await app.goto("/app");
  await waitForTakeover(app);
  await expect.poll(async () => (await listEntries()).filter((entry) => !before.includes(entry)).length).toBe(1);
  expect(await listEntries()).toHaveLength(1);
  await second.close();
  const page = await client.context.newPage();
  await page.goto(`/app/chat/${ana.id}`);
  await waitForTakeover(page);
  await expect(client.composer(page)).toHaveValue("le deuxième");
  await expect(page.getByText("le premier")).toBeVisible(); // parked above the field
});
