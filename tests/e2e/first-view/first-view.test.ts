import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { findAxeViolations } from "#tests/support/browser/axe-checks.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import {
  firstView,
  holdScripts,
  makeChat,
  openCold,
  openPhone,
  phoneOptions,
  readLayoutShift,
  recordLayoutShift,
} from "#tests/support/browser/cold-start.ts";
import { TestClient, textsOf, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { readUnsentRows } from "#tests/support/browser/unsent-rows.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite } from "#tests/support/people/people.ts";
import { readServerTexts, readUnread } from "#tests/support/server/logs.ts";

test("the list and a chat are readable before any script, and lead on by links; scripts that never arrive leave a hint", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben } = await makeChat(site, 9001, ["premier", "tout dernier"]);
  const context = await browser.newContext({ baseURL: server.origin, serviceWorkers: "block", ...phoneOptions });
  const client = await TestClient.openIn(context, server, "pt", true);
  const page = await openCold(client, ben);
  await holdScripts(context);
  await page.goto("/app", { waitUntil: "commit" });
  await expect(firstView(page).getByRole("link", { name: ana.username })).toContainText("tout dernier");
  // The icons, which are painted after the text.
  for (const icon of await firstView(page).locator("[class*=i-ph-]").all())
    await expect(icon).toHaveCSS("mask-image", /^url\(/);
  await firstView(page).getByRole("link", { name: ana.username }).click();
  await expect(firstView(page).getByRole("listitem").last()).toContainText("tout dernier");
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  expect(await findAxeViolations(page)).toEqual([]);

  await context.route("**/assets/*.js", (route) => route.abort());
  await page.goto(`/app/chat/${ana.id}`);
  await expect(firstView(page).getByText("tout dernier")).toBeVisible();
  await expect(firstView(page).getByRole("textbox", { name: textsOf.pt.chat.composer })).toBeVisible();
  await expect(page.getByRole("alert")).toBeVisible();
  await client.close();
});

test("text typed before the app has loaded stays, with its caret and focus, is not sent by an earlier press of the record button, and as a stored draft is continued in the next first view", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9003, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await firstView(page).getByRole("button", { name: client.texts.chat.voice.record }).click();
  const field = firstView(page).getByRole("textbox");
  await field.click();
  await page.keyboard.type("à moitié écrit");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  release();
  await waitForTakeover(page);
  const composer = client.composer(page);
  await expect(composer).toHaveValue("à moitié écrit");
  await expect(composer).toBeFocused();
  await page.keyboard.type("X");
  await expect(composer).toHaveValue("à moitié écrXit");
  await expect
    .poll(async () => (await readUnsentRows(page, "drafts")).map((row) => row["text"]))
    .toEqual(["à moitié écrXit"]);
  expect(await readServerTexts(site, ben, conversation)).toEqual(["bonjour"]);

  const releaseNext = await holdScripts(client.context);
  await page.reload({ waitUntil: "commit" });
  await expect(field).toHaveValue("à moitié écrXit");
  await field.press("Control+End");
  await field.pressSequentially(" et la suite");
  releaseNext();
  await waitForTakeover(page);
  await expect(composer).toHaveValue("à moitié écrXit et la suite");
  await client.close();
});

test("a message sent before the scripts, without a network and with the page closed, is sent on the next visit", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9007, ["bonjour"]);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  await client.context.route("**/assets/*.js", (route) => route.abort());
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await expect(firstView(page).getByRole("textbox")).toBeEditable();
  await client.context.setOffline(true);
  await firstView(page).getByRole("textbox").fill("écrit hors ligne");
  await page.keyboard.press("Enter");
  await firstView(page).getByRole("textbox").fill("et un brouillon");
  await page.close();
  await client.context.setOffline(false);
  await client.context.unroute("**/assets/*.js");
  const next = await client.context.newPage();
  await next.goto(`/app/chat/${ana.id}`);
  await waitForTakeover(next);
  await expect(next.getByRole("textbox", { name: client.texts.chat.composer })).toHaveValue("et un brouillon");
  await expect.poll(() => readServerTexts(site, ben, conversation)).toEqual(["bonjour", "écrit hors ligne"]);
  await client.close();
});

test("rows and messages do not move when the app takes over, on a narrow and a wide screen", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const texts = [
    "court",
    "une phrase bien plus longue qui prend plusieurs lignes sur un petit écran",
    "https://example.com/x",
    "👍🏽",
    "😀😀",
    "*gras _et doux_* ~barré~ `code` *https://example.com/y*\n- un\n- deux",
  ];
  const { ana, ben, conversation } = await makeChat(site, 9011, texts);
  const body = { messages: [{ cid: crypto.randomUUID(), body: { type: "text", text: "une réponse", reply: 2 } }] };
  await callSite(site, "POST", `/api/conversations/${conversation}/messages`, { token: ben.token, body });
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const measure = (root: string) =>
    page.$$eval(`${root} [role=main] :is(li a, .rounded-bubble, time, h1, textarea)`, (elements) =>
      elements.map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x, y, width, height].map(Math.round).join(" ");
      }),
    );
  await recordLayoutShift(page);
  for (const size of [
    { width: 360, height: 740 },
    { width: 1280, height: 800 },
  ]) {
    await page.setViewportSize(size);
    for (const path of ["/app", `/app/chat/${ana.id}`]) {
      await page.goto("/favicon.svg");
      const release = await holdScripts(client.context);
      await page.goto(path, { waitUntil: "commit" });
      await expect(firstView(page).getByText("une réponse").first()).toBeVisible();
      const before = await measure("#first-view");
      release();
      await waitForTakeover(page);
      await expect.poll(() => measure("#root")).toEqual(before); // the code of quotes may follow
      expect(await readLayoutShift(page)).toBe(0);
      await client.context.unroute("**/assets/*.js");
    }
    // The next list shows the chat as read from the beginning.
    await expect.poll(() => readUnread(site, ben, conversation)).toBe(0);
  }
  await client.close();
});

/** Serves a document in pieces, each of which ends before a row, and lets all other requests wait. */
const serveInPieces = async (html: string, headers: Record<string, string>) => {
  const pieces = html.split(/(?=<li)/);
  const server = createServer((request, response) => {
    if (request.headers["sec-fetch-mode"] !== "navigate") return;
    response.writeHead(200, headers);
    void (async () => {
      for (const piece of pieces) {
        response.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      response.end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, () => resolve()));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://localhost:${port}`, pieces: pieces.length, stop };
};

test("a chat does not move while its document arrives", async ({ browser, server }) => {
  const site = toSite(server);
  const texts = Array.from({ length: 10 }, (_, n) => `message ${n}`);
  const { ana, ben } = await makeChat(site, 9037, texts);
  const client = await openPhone(browser, server);
  const page = await openCold(client, ben);
  const response = await client.context.request.get(`/app/chat/${ana.id}`, {
    headers: { "sec-fetch-mode": "navigate" },
  });
  const policy = response.headers()["content-security-policy"] ?? "";
  const { origin, pieces, stop } = await serveInPieces(await response.text(), {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
  });
  try {
    expect(pieces).toBeGreaterThan(texts.length);
    const session: string = await page.evaluate(() => localStorage["session"]);
    await page.addInitScript((text) => Object.assign(localStorage, { session: text }), session);
    await recordLayoutShift(page);
    await page.goto(`${origin}/app/chat/${ana.id}`, { waitUntil: "commit" });
    await expect(firstView(page).getByText("message 9", { exact: true })).toBeVisible();
    await expect(firstView(page).getByRole("textbox")).toBeEditable();
    expect(await readLayoutShift(page)).toBe(0);
  } finally {
    stop();
  }
  await client.close();
});
