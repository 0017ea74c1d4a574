import { expect, test } from "#tests/support/browser/browser-test.ts";
import { openPair } from "#tests/support/people/pair.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

test("another tab that deletes the local database removes neither unsent messages nor the draft", async ({
  browser,
  server,
}) => {
  const { site, people, phones, conversation } = await openPair(browser, server, 7_690);
  const [anas, bens] = phones;
  const { page, texts } = anas;
  await anas.write("en ligne");
  await expect(anas.ticks("en ligne", "read")).toBeVisible();
  const other = await anas.context.newPage();
  await anas.goTo("/favicon.svg", other); // a page of this origin without a script
  // The code of notices arrives when the app is idle, in two files.
  await page.waitForFunction(
    () => performance.getEntriesByType("resource").filter(({ name }) => /notifier-/.test(name)).length === 2,
  );
  await anas.context.setOffline(true);
  const unsent = ["un", "deux", "trois"];
  for (const text of unsent) await anas.write(text);
  await anas.composer().fill("un brouillon");
  await expect(anas.ticks("trois", "sending")).toBeVisible();
  await other.evaluate(async () => {
    const [found] = (await indexedDB.databases()).filter(({ name }) => /^lisolo-[\da-f-]{36}$/.test(name ?? ""));
    await new Promise<void>((resolve, reject) => {
      const request = indexedDB.deleteDatabase(found?.name ?? "");
      request.onsuccess = () => resolve();
      request.onerror = () => reject(request.error);
    });
  });
  await expect(page.getByText(texts.shell.notice.storeReset)).toBeVisible();
  for (const text of unsent) await expect(anas.ticks(text, "sending")).toBeVisible();
  await expect(anas.composer()).toHaveValue("un brouillon");
  await expect(page.getByText(texts.chat.mustBeConnected)).toHaveCount(0);
  await expect(page.getByText(texts.chat.emptyTitle)).toHaveCount(0);

  await anas.context.setOffline(false);
  for (const text of unsent) await expect(anas.ticks(text, "read")).toBeVisible({ timeout: 30_000 });
  await expect(bens.message("trois")).toBeVisible();
  // The server has told of the contact again.
  await expect(page.getByRole("main").locator("header").getByText(people[1].username)).toBeVisible();
  await expect(page.getByText(texts.common.user, { exact: true })).toHaveCount(0);
  const log = await readServerLog(site, people[0], conversation);
  expect(log.map(({ text }) => text)).toEqual(["en ligne", ...unsent]);
  await expect(anas.composer()).toHaveValue("un brouillon");
  for (const phone of phones) await phone.close();
});
