import type { Page } from "@playwright/test";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat } from "#tests/support/browser/cold-start.ts";
import { dropAppFiles, openWarm } from "#tests/support/browser/snapshots.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { holdUnsentWrites } from "#tests/support/browser/unsent-rows.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";

/** Continues a composition, which keeps the view while the app is drawn below, until the page's timer is cleared. */
const keepComposing = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const composing = setInterval(() => {
      document.querySelector("#first-view textarea")?.dispatchEvent(new Event("compositionupdate", { bubbles: true }));
    }, 50);
    Object.assign(window, { composing });
  });

test("the app takes over after a composition, also one that begins while it stores the sent texts; a text sent in the last moment stays before the first one of the app", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9733, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const cdp = await client.context.newCDPSession(page);
  const compose = (text: string, caret = text.length) =>
    cdp.send("Input.imeSetComposition", { text, selectionStart: caret, selectionEnd: caret });
  /** Opens the chat with its scripts held back. */
  const openHeld = async () => {
    await dropAppFiles(page);
    const release = await holdScripts(client.context);
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await firstView(page).getByRole("textbox").click();
    return release;
  };

  // The end of a composition replaces its beginning.
  const releaseFirst = await openHeld();
  releaseFirst();
  await expect(async () => {
    await compose("´", 1);
    await compose("`", 1);
    await expect(page.locator("#root textarea")).toBeAttached({ timeout: 100 });
  }).toPass({ intervals: [100] });
  await page.waitForTimeout(500);
  await cdp.send("Input.insertText", { text: "è" });
  await waitForTakeover(page);
  await expect(client.composer(page)).toHaveValue("è");
  await expect(client.composer(page)).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(client.ticks("è", "sent", page)).toBeVisible();

  // A composition begins while the app stores the sent texts.
  const releaseSecond = await openHeld();
  await keepComposing(page);
  releaseSecond();
  await expect(page.locator("#root textarea")).toBeAttached({ timeout: 30_000 });
  await page.waitForTimeout(2_000);
  await holdUnsentWrites(page, 3_000); // as if another tab wrote for as long as the app waits for its own writes
  await page.evaluate(() => {
    const field = document.querySelector<HTMLTextAreaElement>("#first-view textarea");
    if (!field) throw new Error("the view is gone");
    field.value = "avant";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    clearInterval(Reflect.get(window, "composing"));
    field.dispatchEvent(new Event("compositionend", { bubbles: true }));
  });
  await page.waitForTimeout(200); // the app has seen the end of the composition and stores the text
  for (const text of ["s", "su", "sui", "suit", "suite"]) {
    await compose(text);
    await page.waitForTimeout(300);
  }
  await cdp.send("Input.insertText", { text: "suite" });
  await waitForTakeover(page);
  await expect(client.composer(page)).toHaveValue("suite");
  await expect(client.composer(page)).toBeFocused();
  await expect.poll(() => readServerTexts(site, ben, conversation)).toEqual(["bonjour", "è", "avant"]);
  await page.keyboard.press("Enter");
  await expect(client.ticks("suite", "sent", page)).toBeVisible();

  // A text is sent in the last moment of the view, and another one in the first moment of the app.
  const releaseThird = await openHeld();
  await keepComposing(page);
  releaseThird();
  await expect(page.locator("#root textarea")).toBeAttached();
  await page.waitForTimeout(2_000);
  await client.context.setOffline(true);
  await page.evaluate(async () => {
    const type = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
    const write = async (root: string, text: string) => {
      const field = document.querySelector<HTMLTextAreaElement>(`${root} textarea`);
      type?.call(field, text);
      field?.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await Promise.resolve();
      field?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    };
    const removed = new Promise<void>((resolve) => {
      new MutationObserver(() => !document.getElementById("first-view") && resolve()).observe(document.body, {
        childList: true,
        subtree: true,
      });
    });
    await write("#first-view", "dernier");
    clearInterval(Reflect.get(window, "composing"));
    document.querySelector("#first-view textarea")?.dispatchEvent(new Event("compositionend", { bubbles: true }));
    await removed;
    await write("#root", "premier");
  });
  await expect(client.ticks("premier", "sending", page)).toBeVisible();
  await client.context.setOffline(false);
  await expect(client.ticks("premier", "sent", page)).toBeVisible({ timeout: 30_000 });
  const texts = ["bonjour", "è", "avant", "suite", "dernier", "premier"];
  expect(await readServerTexts(site, ben, conversation)).toEqual(texts);
});
