import type { Page } from "@playwright/test";
import { createUuid } from "#contract/ids.ts";
import { timeZoneCookie } from "#contract/wire/document/document-names.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  firstView,
  holdScripts,
  makeChat,
  openCold,
  openPhone,
  readLayoutShift,
  recordLayoutShift,
} from "#tests/support/browser/cold-start.ts";
import { earlyRow, earlyTick, messagesPattern, writeEarly } from "#tests/support/browser/early-messages.ts";
import { dropAppFiles, openWarm, watchPosts } from "#tests/support/browser/snapshots.ts";
import { type TestClient, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { addUnsentRow, holdUnsentWrites, readUnsentRows } from "#tests/support/browser/unsent-rows.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";
import type { Server } from "#tests/support/server/server.ts";

/** Makes the server write the times that the device shows. */
const setTimeZone = ({ context }: TestClient, { origin }: Server): Promise<void> =>
  context.addCookies([{ name: timeZoneCookie, value: "Africa%2FKinshasa", url: origin }]);

const bubblesOf = (page: Page, root: string) =>
  page.$$eval(`${root} [role=main] :is(.rounded-bubble, time, li p)`, (elements) =>
    elements.map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [element.textContent, ...[x, y, width, height].map(Math.round)].join(" ");
    }),
  );

test("messages sent before the scripts are stored at once, stand in the run of the message before them or under the heading of a new day, and the app continues without a trace of the change", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9701, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await setTimeZone(client, server);
  await recordLayoutShift(page);
  await page.addInitScript(() => {
    // Ticks that the app shows in the moment in which the view goes.
    new MutationObserver(() => {
      if (Reflect.get(window, "ticks") || !document.querySelector("#root li") || document.getElementById("first-view"))
        return;
      const ticks = [...document.querySelectorAll("#root li [role=img]")].map((tick) => tick.ariaLabel);
      Object.assign(window, { ticks });
    }).observe(document, { childList: true, subtree: true });
  });
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "avant les scripts");
  await writeEarly(page, "une deuxième, bien plus longue, qui prend plusieurs lignes sur un petit écran");
  await expect(earlyTick(client, page, "avant les scripts", "sent")).toBeVisible();
  await expect(firstView(page).getByRole("img", { name: client.texts.chat.status.sent })).toHaveCount(2);
  expect(await readServerTexts(site, ana, conversation)).toHaveLength(3);
  const before = await bubblesOf(page, "#first-view");
  const posted = watchPosts(client);
  release();
  await waitForTakeover(page);
  const ticks = await page.evaluate(() => Reflect.get(window, "ticks"));
  expect(ticks).toHaveLength(2);
  expect(ticks).not.toContain(client.texts.chat.status.sending);
  expect(await bubblesOf(page, "#root")).toEqual(before);
  expect(posted).toEqual([]);

  // A message in the run of those that the document contains.
  const releaseNext = await holdScripts(client.context);
  await dropAppFiles(page);
  await page.reload({ waitUntil: "commit" });
  await expect(earlyRow(page, "avant les scripts")).toHaveCount(1);
  await writeEarly(page, "encore moi");
  await expect(earlyTick(client, page, "encore moi", "sent")).toBeVisible();
  const beforeNext = await bubblesOf(page, "#first-view");
  await page.evaluate(() => Object.assign(window, { shift: 0 })); // without the rows that the message moved up
  releaseNext();
  await waitForTakeover(page);
  expect(await bubblesOf(page, "#root")).toEqual(beforeNext);
  expect(await readLayoutShift(page)).toBe(0);
  for (const text of ["avant les scripts", "encore moi"]) await expect(client.message(text, page)).toHaveCount(1);
  expect(await readServerTexts(site, ana, conversation)).toHaveLength(4);
  expect(posted).toEqual(["encore moi"]);
  const listJournaled = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("-outbox-")));
  await expect.poll(listJournaled).toEqual([]);

  // A message of another day than the newest one.
  await dropAppFiles(page);
  await page.close();
  await holdScripts(client.context);
  const later = await client.context.newPage();
  await later.addInitScript(() => {
    new MutationObserver(() => {
      const template = document.getElementById("first-sent");
      if (template) template.dataset["newest"] = String(Date.now() - 86_400_000);
    }).observe(document, { childList: true, subtree: true });
  });
  await later.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(later, "un autre jour");
  const [heading, row] = [firstView(later).getByText("Aujourd’hui").last(), earlyRow(later, "un autre jour")];
  await expect(heading).toBeVisible();
  const [above, below] = [await heading.boundingBox(), await row.boundingBox()];
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan((below?.y ?? 0) + 1);
});

test("early messages wait for the answer to the one before in any tab, and for a network, but not for a failed one, and arrive although their page is closed at once", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9707, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const texts = ["bonjour"];
  await holdScripts(client.context);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const other = await client.context.newPage();
  const posted = watchPosts(client);
  await client.context.route(messagesPattern, async (route) => {
    await answered;
    await route.continue();
  });
  for (const tab of [page, other]) await tab.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "un");
  await expect.poll(() => posted).toEqual(["un"]);
  await writeEarly(page, "deux");
  await writeEarly(other, "trois");
  await other.waitForTimeout(1_000);
  expect(posted).toEqual(["un"]);
  answer();
  await expect(earlyTick(client, other, "trois", "sent")).toBeVisible();
  expect(posted).toEqual(["un", "deux", "trois"]);
  texts.push("un", "deux", "trois");
  expect(await readServerTexts(site, ben, conversation)).toEqual(texts);
  await other.close();

  await client.context.setOffline(true);
  await writeEarly(page, "hors ligne 1");
  await writeEarly(page, "hors ligne 2");
  await expect(earlyTick(client, page, "hors ligne 2", "sending")).toBeVisible();
  await client.context.setOffline(false);
  await expect(earlyTick(client, page, "hors ligne 2", "sent")).toBeVisible();
  texts.push("hors ligne 1", "hors ligne 2");
  expect(await readServerTexts(site, ben, conversation)).toEqual(texts);

  const failed = { cid: createUuid(), conversation, body: { type: "text", text: "refusé" }, state: "failed" };
  await addUnsentRow(page, "outbox", { ...failed, order: 1, createdAt: 1, at: 1, attempts: 0 });
  await page.reload({ waitUntil: "commit" });
  await writeEarly(page, "sans attendre");
  await expect(earlyTick(client, page, "sans attendre", "sent")).toBeVisible();
  texts.push("sans attendre");
  expect(await readServerTexts(site, ben, conversation)).toEqual(texts);

  await writeEarly(page, "et je ferme");
  await expect
    .poll(async () => (await readUnsentRows(page, "outbox")).map(({ body }) => body))
    .toContainEqual({ type: "text", text: "et je ferme" });
  await page.close();
  await expect.poll(() => readServerTexts(site, ana, conversation)).toEqual([...texts, "et je ferme"]);
});

test("an early message does not overtake an older unsent one of the database, of the journal, or of both", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9711, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const posted = watchPosts(client);
  const texts: string[] = [];
  let { page } = client;
  await page.goto(`/app/chat/${ana.id}`);
  for (const place of ["both", "database", "journal"] as const) {
    const [older, newer] = [`plus ancien (${place})`, `plus récent (${place})`];
    await waitForTakeover(page);
    await client.context.setOffline(true);
    if (place === "journal") await holdUnsentWrites(page);
    await client.write(older, page);
    await expect(client.ticks(older, "sending", page)).toBeVisible();
    if (place !== "journal") await expect.poll(() => readUnsentRows(page, "outbox")).toHaveLength(1);
    // As a forwarded text, which is not journaled.
    if (place === "database")
      await page.evaluate(() => {
        for (const key of Object.keys(localStorage)) if (key.includes("-outbox-")) localStorage.removeItem(key);
      });
    await dropAppFiles(page);
    await page.close();
    page = await client.context.newPage();
    await client.context.setOffline(false);
    const release = await holdScripts(client.context);
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await writeEarly(page, newer);
    texts.push(older, newer);
    for (const text of [older, newer]) await expect(earlyTick(client, page, text, "sent")).toBeVisible();
    expect(posted).toEqual(texts);
    release();
    await expect(client.ticks(newer, "sent", page)).toBeVisible({ timeout: 30_000 });
    await expect.poll(() => readUnsentRows(page, "outbox")).toEqual([]);
    expect(await readServerTexts(site, ben, conversation)).toEqual(["bonjour", ...texts]);
  }
});

test("at the first visit, without a service worker, nothing is sent early; the app sends each text once, also after a double tap, and records nothing", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9483, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  await page.addInitScript(() => {
    navigator.mediaDevices.getUserMedia = () => {
      Object.assign(window, { hasRecorded: true });
      return Promise.reject(new DOMException("", "NotAllowedError"));
    };
  });
  const posted = watchPosts(client);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  const field = firstView(page).getByRole("textbox");
  await field.fill("première visite 1");
  await firstView(page).getByRole("button", { name: client.texts.chat.send, exact: true }).tap();
  // After a press on Send the field has the focus.
  await page.keyboard.type("première visite 2");
  await expect(field).toHaveValue("première visite 2");
  // The last press: after it nothing makes the page forget a press on the button that records.
  await firstView(page).locator("[type=submit]").dblclick();
  await expect(firstView(page).locator("[data-early]")).toHaveCount(0);
  await expect(field).toHaveValue("");
  await expect(firstView(page).getByRole("listitem").last()).toContainText("première visite 2");
  await expect.poll(() => readUnsentRows(page, "outbox")).toHaveLength(2);
  await expect(earlyTick(client, page, "première visite 2", "sending")).toBeVisible();
  expect(posted).toEqual([]);
  release();
  await expect(client.ticks("première visite 2", "sent", page)).toBeVisible({ timeout: 30_000 });
  expect(await page.evaluate(() => Reflect.get(window, "hasRecorded"))).toBeUndefined();
  await expect(client.composer(page)).toHaveValue("");
  await expect.poll(() => readUnsentRows(page, "outbox")).toEqual([]);
  await page.reload();
  await waitForTakeover(page);
  for (const n of [1, 2]) await expect(client.message(`première visite ${n}`, page)).toHaveCount(1);
  await expect(client.composer(page)).toHaveValue("");
  const texts = ["bonjour", "première visite 1", "première visite 2"];
  expect(await readServerTexts(site, ben, conversation)).toEqual(texts);
});

test("what a composition, a refusal by the server or a lack of local storage forbids is not sent early, and stops nothing", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9723, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const posted = watchPosts(client);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  const field = firstView(page).getByRole("textbox");

  // Enter that ends a composition.
  await field.click();
  const cdp = await client.context.newCDPSession(page);
  await cdp.send("Input.imeSetComposition", { text: "compos", selectionStart: 6, selectionEnd: 6 });
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
  await cdp.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...enter });
  await cdp.send("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
  await page.waitForTimeout(500);
  await expect(field).toHaveValue("compos");
  await cdp.send("Input.insertText", { text: "composé" });
  await page.keyboard.press("Enter");
  await expect(earlyTick(client, page, "composé", "sent")).toBeVisible();

  // Texts that the server would refuse are left to the app.
  for (const text of ["\u200b", "a\u0001b"]) {
    await writeEarly(page, text);
    await expect(field).toHaveValue(text);
  }
  await writeEarly(page, "👍🏽");
  await expect(earlyTick(client, page, "👍🏽", "sent")).toBeVisible();
  expect(posted).toEqual(["composé", "👍🏽"]);

  // Without local storage the app sends the text.
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("", "SecurityError");
    };
  });
  await writeEarly(page, "sans mémoire");
  await page.waitForTimeout(1_000);
  await expect(field).toHaveValue("sans mémoire");
  expect(posted).toEqual(["composé", "👍🏽"]);
  release();
  await expect(client.ticks("sans mémoire", "sent", page)).toBeVisible({ timeout: 30_000 });
  expect(await readServerTexts(site, ben, conversation)).toEqual(["bonjour", "composé", "👍🏽", "sans mémoire"]);
});
