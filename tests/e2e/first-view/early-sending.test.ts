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
import { dropAppFiles, openWarm, watchPosts } from "#tests/support/browser/snapshots.ts";
import { TestClient, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { addUnsentRow, holdUnsentWrites, readUnsentRows } from "#tests/support/browser/unsent-rows.ts";
import { toSite } from "#tests/support/people/pair.ts";
import type { Person, Site } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";
import { type Server, startServer } from "#tests/support/server/server.ts";
import { accessCookie } from "#worker/lib/http/cookies.ts";

const messagesPattern = "**/api/conversations/*/messages";

/** Makes the server write the times that the device shows. */
const setTimeZone = ({ context }: TestClient, { origin }: Server): Promise<void> =>
  context.addCookies([{ name: timeZoneCookie, value: "Africa%2FKinshasa", url: origin }]);

const readTexts = async (site: Site, person: Person, conversation: string): Promise<string[]> =>
  (await readServerLog(site, person, conversation)).map(({ text }) => text);

const writeEarly = async (page: Page, text: string): Promise<void> => {
  await firstView(page).getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
};

/** Row of a message with exactly this text in the first view. */
const earlyRow = (page: Page, text: string) =>
  firstView(page)
    .getByRole("listitem")
    .filter({ has: page.locator("bdi").getByText(text, { exact: true }) });

const earlyTick = (client: TestClient, page: Page, text: string, status: "sending" | "sent") =>
  earlyRow(page, text).getByRole("img", { name: client.texts.chat.status[status], exact: true });

const bubblesOf = (page: Page, root: string) =>
  page.$$eval(`${root} [role=main] :is(.rounded-bubble, time, li p)`, (elements) =>
    elements.map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [element.textContent, ...[x, y, width, height].map(Math.round)].join(" ");
    }),
  );

test("messages sent before the scripts reach the other person, and the app continues without a trace of the change", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9701, ["bonjour"]);
  const anas = await TestClient.open(browser, server);
  await anas.signInToChat(ana, ben.id);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await setTimeZone(client, server);
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
  await expect(anas.message("avant les scripts")).toBeVisible();
  expect(await readTexts(site, ana, conversation)).toHaveLength(3);
  const before = await bubblesOf(page, "#first-view");
  const posted = watchPosts(client);
  release();
  await waitForTakeover(page);
  const ticks = await page.evaluate(() => Reflect.get(window, "ticks"));
  expect(ticks).toHaveLength(2);
  expect(ticks).not.toContain(client.texts.chat.status.sending);
  expect(await bubblesOf(page, "#root")).toEqual(before);
  await page.reload();
  await waitForTakeover(page);
  for (const phone of [
    { window: anas, page: anas.page },
    { window: client, page },
  ])
    await expect(phone.window.message("avant les scripts", phone.page)).toHaveCount(1);
  expect(await readTexts(site, ana, conversation)).toHaveLength(3);
  expect(posted).toEqual([]);
  expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("-outbox-")))).toEqual([]);
});

test("an early message stands in the run of the message before it, or under the heading of a new day", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9703, ["c'est moi"]);
  const client = await openWarm(browser, server, ana);
  const { page } = client;
  await setTimeZone(client, server);
  await recordLayoutShift(page);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ben.id}`, { waitUntil: "commit" });
  await writeEarly(page, "encore moi");
  await expect(earlyTick(client, page, "encore moi", "sent")).toBeVisible();
  const before = await bubblesOf(page, "#first-view");
  await page.evaluate(() => Object.assign(window, { shift: 0 })); // without the rows that the message moved up
  release();
  await waitForTakeover(page);
  expect(await bubblesOf(page, "#root")).toEqual(before);
  expect(await readLayoutShift(page)).toBe(0);

  const other = await openPhone(browser, server);
  await setTimeZone(other, server);
  const later = await openCold(other, ana);
  await holdScripts(other.context);
  await later.addInitScript(() => {
    new MutationObserver(() => {
      const template = document.getElementById("first-sent");
      if (template) template.dataset["newest"] = String(Date.now() - 86_400_000);
    }).observe(document, { childList: true, subtree: true });
  });
  await later.goto(`/app/chat/${ben.id}`, { waitUntil: "commit" });
  await writeEarly(later, "un autre jour");
  const [heading, row] = [firstView(later).getByText("Aujourd’hui").last(), earlyRow(later, "un autre jour")];
  await expect(heading).toBeVisible();
  const [above, below] = [await heading.boundingBox(), await row.boundingBox()];
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan((below?.y ?? 0) + 1);
});

test("an expired session is renewed before the scripts, once, and the app uses it", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9705, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await client.context.clearCookies({ name: accessCookie });
  await page.evaluate(() => {
    const { userId } = JSON.parse(localStorage["session"]);
    localStorage["session"] = JSON.stringify({ userId, expiresAt: Date.now() - 1_000 });
  });
  const renewals: string[] = [];
  client.context.on("request", (request) => {
    if (request.url().includes("/api/auth/token")) renewals.push(request.url());
  });
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "session expirée");
  await expect(earlyTick(client, page, "session expirée", "sent")).toBeVisible();
  release();
  await waitForTakeover(page);
  await client.write("ensuite", page);
  await expect(client.ticks("ensuite", "sent", page)).toBeVisible();
  expect(renewals).toHaveLength(1);
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "session expirée", "ensuite"]);
});

test("each early message waits for the answer to the one before, in any tab", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9707, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
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
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "un", "deux", "trois"]);
});

for (const [n, older] of [
  [9711, "in the database and in the journal"],
  [9713, "in the database only"],
  [9481, "in the journal only"],
] as const)
  test(`an early message does not overtake an older unsent one ${older}`, async ({ browser, server }) => {
    const site = toSite(server);
    const { ana, ben, conversation } = await makeChat(site, n, ["bonjour"]);
    const client = await openWarm(browser, server, ben);
    let { page } = client;
    await page.goto(`/app/chat/${ana.id}`);
    await waitForTakeover(page);
    await client.context.setOffline(true);
    if (older === "in the journal only") await holdUnsentWrites(page);
    await client.write("plus ancien", page);
    await expect(client.ticks("plus ancien", "sending", page)).toBeVisible();
    if (older !== "in the journal only") await expect.poll(() => readUnsentRows(page, "outbox")).toHaveLength(1);
    // As a forwarded text, which is not journaled.
    if (older === "in the database only")
      await page.evaluate(() => {
        for (const key of Object.keys(localStorage)) if (key.includes("-outbox-")) localStorage.removeItem(key);
      });
    await dropAppFiles(page);
    await page.close();
    page = await client.context.newPage();
    await client.context.setOffline(false);
    const posted = watchPosts(client);
    const release = await holdScripts(client.context);
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await writeEarly(page, "plus récent");
    for (const text of ["plus ancien", "plus récent"])
      await expect(earlyTick(client, page, text, "sent")).toBeVisible();
    expect(posted).toEqual(["plus ancien", "plus récent"]);
    release();
    await expect(client.ticks("plus récent", "sent", page)).toBeVisible({ timeout: 30_000 });
    expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "plus ancien", "plus récent"]);
  });

test("a failed message of this conversation does not delay early messages", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9717, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  let { page } = client;
  await page.goto(`/app/chat/${ana.id}`);
  await waitForTakeover(page);
  const failed = { cid: createUuid(), conversation, body: { type: "text", text: "refusé" }, state: "failed" };
  await addUnsentRow(page, "outbox", { ...failed, order: 1, createdAt: 1, at: 1, attempts: 0 });
  await dropAppFiles(page);
  await page.close();
  page = await client.context.newPage();
  await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "sans attendre");
  await expect(earlyTick(client, page, "sans attendre", "sent")).toBeVisible();
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "sans attendre"]);
});

test("an early message arrives although its page was closed at once", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9485, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "et je ferme");
  await expect.poll(() => readUnsentRows(page, "outbox")).toHaveLength(1);
  await page.close();
  await expect.poll(() => readTexts(site, ana, conversation)).toEqual(["bonjour", "et je ferme"]);
});

test("without a service worker, as at the first visit, nothing is sent early, and the app sends the text", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9483, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const posted = watchPosts(client);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "première visite 1");
  await writeEarly(page, "première visite 2");
  await expect.poll(() => readUnsentRows(page, "outbox")).toHaveLength(2);
  await expect(earlyTick(client, page, "première visite 2", "sending")).toBeVisible();
  expect(posted).toEqual([]);
  release();
  await expect(client.ticks("première visite 2", "sent", page)).toBeVisible({ timeout: 30_000 });
  await expect(client.message("première visite 1", page)).toHaveCount(1);
  await expect.poll(() => readUnsentRows(page, "outbox")).toEqual([]);
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "première visite 1", "première visite 2"]);
});

test("a lost answer stores the early message once", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9719, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const posted = watchPosts(client);
  await client.context.route(messagesPattern, async (route) => {
    await route.fetch();
    await route.abort();
  });
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "réponse perdue");
  await expect.poll(() => posted.length).toBeGreaterThan(1); // repeated under the same client id
  await expect(earlyTick(client, page, "réponse perdue", "sending")).toBeVisible();
  release();
  await expect(client.ticks("réponse perdue", "sent", page)).toBeVisible({ timeout: 30_000 });
  await expect(client.message("réponse perdue", page)).toHaveCount(1);
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "réponse perdue"]);
});

test("early messages written offline are sent once there is a network, still before the scripts", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9721, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  await client.context.setOffline(true);
  await writeEarly(page, "hors ligne 1");
  await writeEarly(page, "hors ligne 2");
  await expect(earlyTick(client, page, "hors ligne 2", "sending")).toBeVisible();
  await client.context.setOffline(false);
  await expect(earlyTick(client, page, "hors ligne 2", "sent")).toBeVisible();
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "hors ligne 1", "hors ligne 2"]);
});

test("without local storage nothing is sent early, and the app sends the text", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9723, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const posted = watchPosts(client);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("", "SecurityError");
    };
  });
  await writeEarly(page, "sans mémoire");
  await page.waitForTimeout(1_000);
  await expect(firstView(page).getByRole("textbox")).toHaveValue("sans mémoire");
  expect(posted).toEqual([]);
  release();
  await expect(client.ticks("sans mémoire", "sent", page)).toBeVisible({ timeout: 30_000 });
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "sans mémoire"]);
});

test("a server that dies during the first view and returns gets every message once, in order", async ({ browser }) => {
  const server = await startServer();
  try {
    const site = toSite(server);
    const { ana, ben, conversation } = await makeChat(site, 9725, ["bonjour"]);
    const client = await openWarm(browser, server, ben);
    const { page } = client;
    const release = await holdScripts(client.context);
    await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
    await writeEarly(page, "vivant");
    await expect(earlyTick(client, page, "vivant", "sent")).toBeVisible();
    await server.kill();
    await writeEarly(page, "mort 1");
    await writeEarly(page, "mort 2");
    await expect(earlyTick(client, page, "mort 2", "sending")).toBeVisible();
    await server.restart();
    release();
    await expect(client.ticks("mort 2", "sent", page)).toBeVisible({ timeout: 60_000 });
    expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "vivant", "mort 1", "mort 2"]);
    await client.close();
  } finally {
    await server.stop();
  }
});

test("the same early text in two tabs leaves the second when the first has sent it", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9727, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("dans deux onglets");
  const other = await client.context.newPage();
  await other.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(other).getByRole("textbox")).toHaveValue("dans deux onglets");
  await page.bringToFront();
  await firstView(page).getByRole("textbox").press("Enter");
  await expect(firstView(other).getByRole("textbox")).toHaveValue("");
  await firstView(other).getByRole("textbox").press("Enter");
  release();
  for (const tab of [page, other]) {
    await waitForTakeover(tab);
    await expect(client.ticks("dans deux onglets", "sent", tab)).toBeVisible({ timeout: 30_000 });
    await expect(client.composer(tab)).toHaveValue("");
  }
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "dans deux onglets"]);
});

test("an early message whose answer arrives after the takeover is shown as sent before the app is connected", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 7708, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const release = await holdScripts(client.context);
  const connect = await holdScripts(client.context, "**/assets/connection-*.js");
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await client.context.route(messagesPattern, async (route) => {
    const response = await route.fetch();
    await answered;
    await route.fulfill({ response });
  });
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await writeEarly(page, "réponse tardive");
  await expect.poll(() => readTexts(site, ben, conversation)).toEqual(["bonjour", "réponse tardive"]);
  release();
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  await expect(client.ticks("réponse tardive", "sending", page)).toBeVisible();
  answer();
  await expect(client.ticks("réponse tardive", "sent", page)).toBeVisible();
  connect();
});

test("an early text that one of two tabs continues and sends is no draft in the other", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 7700, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await page.goto(`/app/chat/${ana.id}`);
  await waitForTakeover(page);
  const release = await holdScripts(client.context);
  await dropAppFiles(page);
  await page.reload({ waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("un");
  const other = await client.context.newPage();
  await other.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(other).getByRole("textbox")).toHaveValue("un");
  await page.bringToFront();
  await writeEarly(page, "un deux");
  await expect(firstView(other).getByRole("textbox")).toHaveValue("");
  await expect(earlyTick(client, page, "un deux", "sent")).toBeVisible();
  release();
  for (const tab of [page, other]) {
    await waitForTakeover(tab);
    await expect(client.ticks("un deux", "sent", tab)).toBeVisible({ timeout: 30_000 });
  }
  await page.waitForTimeout(1_000); // a draft is saved after a pause in typing
  for (const tab of [page, other]) await expect(client.composer(tab)).toHaveValue("");
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "un deux"]);
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
  await writeEarly(page, "demain soir");
  await expect(earlyTick(client, page, "demain soir", "sent")).toBeVisible();
  release();
  await expect(client.ticks("demain soir", "sent", page)).toBeVisible({ timeout: 30_000 });
  await page.reload({ waitUntil: "commit" });
  await expect(firstView(page)).toHaveCount(0);
  await expect(client.message("demain soir", page)).toHaveCount(1);
  await page.waitForTimeout(1_000); // a draft is stored after a pause in typing
  await expect(client.composer(page)).toHaveValue("");
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "demain soir"]);
});

test("an early text that a tab continues while the app starts in another one is in both fields", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 7702, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(page);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("un");
  const other = await client.context.newPage();
  const releaseOther = await holdScripts(other);
  await other.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(other).getByRole("textbox")).toHaveValue("un");
  await firstView(page).getByRole("textbox").fill("un deux");
  await expect(firstView(other).getByRole("textbox")).toHaveValue("un deux");
  releaseOther();
  await expect(firstView(other)).toHaveCount(0, { timeout: 30_000 });
  await expect(client.composer(other)).toHaveValue("un deux");
  await page.bringToFront();
  await page.reload({ waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toHaveValue("un deux");
  release();
  await expect(firstView(page)).toHaveCount(0);
  await expect(client.composer(page)).toHaveValue("un deux");
});

test("an early text is not lost although somebody types in the next page before its script has arrived", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 7712, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("un");
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      const field = document.querySelector<HTMLTextAreaElement>("#first-view textarea");
      if (!field) return;
      observer.disconnect();
      field.value = "deux";
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  await page.reload({ waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toHaveValue("un\ndeux");
  expect(await page.evaluate(() => Object.values(localStorage).join())).toContain("un\\ndeux");
});

test("an early text is not lost although another tab writes and sends a text of its own", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 7710, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  const other = await client.context.newPage();
  await other.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(other).getByRole("textbox")).toBeEditable();
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

test("a text typed in a first view stays in its field when the app starts in another tab", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9731, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(page);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").fill("à moitié écrit");
  const other = await client.context.newPage();
  await other.goto("/app");
  await waitForTakeover(other);
  // It has become a draft.
  await expect(other.getByRole("main").getByRole("listitem").filter({ hasText: "à moitié écrit" })).toBeVisible();
  await page.bringToFront();
  await expect(firstView(page).getByRole("textbox")).toHaveValue("à moitié écrit");
  release();
  await waitForTakeover(page);
  await expect(client.composer(page)).toHaveValue("à moitié écrit");
});

test("Enter that ends a composition does not send", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9729, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").click();
  const cdp = await client.context.newCDPSession(page);
  await cdp.send("Input.imeSetComposition", { text: "compos", selectionStart: 6, selectionEnd: 6 });
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
  await cdp.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...enter });
  await cdp.send("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
  await page.waitForTimeout(500);
  await expect(firstView(page).getByRole("textbox")).toHaveValue("compos");
  await cdp.send("Input.insertText", { text: "composé" });
  await page.keyboard.press("Enter");
  await expect(earlyTick(client, page, "composé", "sent")).toBeVisible();
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "composé"]);
});

test("the app takes over after a composition, so that its end replaces its beginning", async ({ browser, server }) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9733, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").click();
  const cdp = await client.context.newCDPSession(page);
  const compose = (text: string) => cdp.send("Input.imeSetComposition", { text, selectionStart: 1, selectionEnd: 1 });
  release();
  await expect(async () => {
    await compose("´");
    await compose("`");
    await expect(page.locator("#root textarea")).toBeAttached({ timeout: 100 });
  }).toPass({ intervals: [100] });
  await page.waitForTimeout(500);
  await cdp.send("Input.insertText", { text: "è" });
  await waitForTakeover(page);
  await expect(client.composer(page)).toHaveValue("è");
  await expect(client.composer(page)).toBeFocused();
});

test("a text sent in the last moment of the first view stays before the first one of the app", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9735, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  // A composition that continues keeps the view while the app is drawn below.
  await page.evaluate(() => {
    const composing = setInterval(() => {
      document.querySelector("#first-view textarea")?.dispatchEvent(new Event("compositionupdate", { bubbles: true }));
    }, 50);
    Object.assign(window, { composing });
  });
  release();
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
    await write("#first-view", "avant");
    clearInterval(Reflect.get(window, "composing"));
    document.querySelector("#first-view textarea")?.dispatchEvent(new Event("compositionend", { bubbles: true }));
    await removed;
    await write("#root", "après");
  });
  await expect(client.ticks("après", "sending", page)).toBeVisible();
  await client.context.setOffline(false);
  await expect(client.ticks("après", "sent", page)).toBeVisible({ timeout: 30_000 });
  expect(await readTexts(site, ben, conversation)).toEqual(["bonjour", "avant", "après"]);
});

test("a composition that begins while the app stores the sent texts is not cut by the takeover", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9784, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("textbox").click();
  const cdp = await client.context.newCDPSession(page);
  const compose = (text: string) =>
    cdp.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
  // A composition that continues keeps the view while the app is drawn below.
  await page.evaluate(() => {
    const composing = setInterval(() => {
      document.querySelector("#first-view textarea")?.dispatchEvent(new Event("compositionupdate", { bubbles: true }));
    }, 50);
    Object.assign(window, { composing });
  });
  release();
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
  await expect.poll(() => readTexts(site, ben, conversation)).toEqual(["bonjour", "avant"]);
});
