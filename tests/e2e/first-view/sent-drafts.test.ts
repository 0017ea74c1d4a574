import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, makeChat, openCold, openPhone } from "#tests/support/browser/cold-start.ts";
import { dropAppFiles, openWarm } from "#tests/support/browser/snapshots.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { holdUnsentWrites, readUnsentRows } from "#tests/support/browser/unsent-rows.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

/** Text of the only draft that is committed; undefined if there is none. */
const readDraft = async (page: Page): Promise<unknown> =>
  (await readUnsentRows(page, "drafts"))[0]?.["text"] || undefined;

/** Client id of the only text that was sent and may not be stored. */
const findSentId = (page: Page): Promise<string> =>
  page.evaluate(
    () => /-outbox-(.+)$/.exec(Object.keys(localStorage).find((key) => key.includes("-outbox-")) ?? "")?.[1] ?? "",
  );

for (const { title, n, typed, isDelivered } of [
  { title: "the first view sends it", n: 9786, typed: "à tout de suite", isDelivered: false },
  { title: "with the space that a keyboard adds", n: 9788, typed: "à tout de suite ", isDelivered: false },
  { title: "the server has it", n: 9790, typed: "à tout de suite", isDelivered: true },
]) {
  test(`a text that was sent in the last moment of a page does not return as a draft: ${title}`, async ({
    browser,
    server,
  }) => {
    const site = toSite(server);
    const { ana, ben, conversation } = await makeChat(site, n, ["bonjour"]);
    const client = await openWarm(browser, server, ben);
    const first = client.page;
    await first.goto(`/app/chat/${ana.id}`);
    await waitForTakeover(first);
    await client.composer(first).pressSequentially(typed);
    await expect.poll(() => readDraft(first)).toBe(typed);
    await holdUnsentWrites(first);
    await first.keyboard.press("Enter");
    await expect(client.composer(first)).toHaveValue("");
    const cid = await findSentId(first);
    await dropAppFiles(first);
    await first.close();
    if (isDelivered) {
      const messages = [{ cid, body: { type: "text", text: "à tout de suite" } }];
      const path = `/api/conversations/${conversation}/messages`;
      expect((await callSite(site, "POST", path, { token: ben.token, body: { messages } })).status).toBe(200);
    }

    const page = await client.context.newPage();
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
    await expect(client.message("à tout de suite", page)).toHaveCount(1);
    await expect.poll(() => readDraft(page)).toBeUndefined();
    await expect(client.composer(page)).toHaveValue("");
    const readTexts = async () => (await readServerLog(site, ana, conversation)).map(({ text }) => text);
    await expect.poll(readTexts).toEqual(["bonjour", "à tout de suite"]);
  });
}

test("a text that takes long to be stored does not return to the field meanwhile", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9798, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  await page.goto(`/app/chat/${ana.id}`);
  await waitForTakeover(page);
  await client.composer(page).pressSequentially("une seule fois");
  await expect.poll(() => readDraft(page)).toBe("une seule fois");
  await holdUnsentWrites(page, 6_000);
  await page.keyboard.press("Enter");
  for (let n = 0; n < 10; n++) {
    await expect(client.composer(page)).toHaveValue("");
    await page.waitForTimeout(500);
  }
  await expect(client.ticks("une seule fois", "sent", page)).toBeVisible();
  await expect(client.composer(page)).toHaveValue("");
  expect(await readDraft(page)).toBeUndefined();
  expect((await readServerLog(site, ana, conversation)).map(({ text }) => text)).toEqual(["bonjour", "une seule fois"]);
});
