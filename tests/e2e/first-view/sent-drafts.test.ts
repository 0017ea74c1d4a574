import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, makeChat } from "#tests/support/browser/cold-start.ts";
import { dropAppFiles, openWarm } from "#tests/support/browser/snapshots.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { holdUnsentWrites, readUnsentRows } from "#tests/support/browser/unsent-rows.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

/** Text of the only draft that is committed; undefined if there is none. */
const readDraft = async (page: Page): Promise<unknown> =>
  (await readUnsentRows(page, "drafts"))[0]?.["text"] || undefined;

/** Client id of the only text that was sent and may not be stored. */
const findSentId = (page: Page): Promise<string> =>
  page.evaluate(
    () => /-outbox-(.+)$/.exec(Object.keys(localStorage).find((key) => key.includes("-outbox-")) ?? "")?.[1] ?? "",
  );

test("a text that takes long to be stored, or was sent in the last moment of a page, does not return to the field", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9786, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  let { page } = client;
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
  const texts = ["bonjour", "une seule fois"];
  expect(await readServerTexts(site, ana, conversation)).toEqual(texts);

  for (const { text, typed, isDelivered } of [
    { text: "envoyé par la vue", typed: "envoyé par la vue", isDelivered: false },
    { text: "avec l'espace d'un clavier", typed: "avec l'espace d'un clavier ", isDelivered: false },
    { text: "déjà sur le serveur", typed: "déjà sur le serveur", isDelivered: true },
  ]) {
    await client.composer(page).pressSequentially(typed);
    await expect.poll(() => readDraft(page)).toBe(typed);
    await holdUnsentWrites(page);
    await page.keyboard.press("Enter");
    await expect(client.composer(page)).toHaveValue("");
    const cid = await findSentId(page);
    await dropAppFiles(page);
    await page.close();
    if (isDelivered) {
      const body = { messages: [{ cid, body: { type: "text", text } }] };
      const path = `/api/conversations/${conversation}/messages`;
      expect((await callSite(site, "POST", path, { token: ben.token, body })).status).toBe(200);
    }

    page = await client.context.newPage();
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
    await expect(client.message(text, page)).toHaveCount(1);
    await expect.poll(() => readDraft(page)).toBeUndefined();
    await expect(client.composer(page)).toHaveValue("");
    texts.push(text);
    await expect.poll(() => readServerTexts(site, ana, conversation)).toEqual(texts);
    await expect.poll(() => readUnsentRows(page, "outbox")).toEqual([]);
  }
});
