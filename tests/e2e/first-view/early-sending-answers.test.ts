import { expect, test } from "#tests/support/browser/browser-test.ts";
import { firstView, holdScripts, makeChat } from "#tests/support/browser/cold-start.ts";
import { earlyTick, messagesPattern, writeEarly } from "#tests/support/browser/early-messages.ts";
import { dropAppFiles, openWarm, watchPosts } from "#tests/support/browser/snapshots.ts";
import { waitForTakeover } from "#tests/support/browser/test-client.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { readServerTexts } from "#tests/support/server/logs.ts";
import { cheapWork, startServer } from "#tests/support/server/server.ts";
import { accessCookie } from "#worker/lib/http/cookies.ts";

test("early messages without an answer are shown and sent after a reload, still before the scripts, and stored once", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const { ana, ben, conversation } = await makeChat(site, 9463, ["bonjour"]);
  const client = await openWarm(browser, server, ben);
  const { page } = client;
  const release = await holdScripts(client.context);
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await client.context.route(messagesPattern, (route) => route.abort());
  await writeEarly(page, "perdu en route");
  await writeEarly(page, "encore un");
  await expect(earlyTick(client, page, "encore un", "sending")).toBeVisible();
  await page.reload({ waitUntil: "commit" });
  await expect(earlyTick(client, page, "perdu en route", "sending")).toBeVisible();
  await expect(earlyTick(client, page, "encore un", "sending")).toBeVisible();
  await client.context.unroute(messagesPattern);
  await expect(earlyTick(client, page, "encore un", "sent")).toBeVisible();

  // The server has the next one, but its answer is lost.
  const loseAnswers = () =>
    client.context.route(messagesPattern, async (route) => {
      await route.fetch();
      await route.abort();
    });
  await loseAnswers();
  const stored = client.context.waitForEvent(
    "request",
    (request) => request.postData()?.includes("réponse perdue") === true,
  );
  await writeEarly(page, "réponse perdue");
  await stored;
  const readTexts = () => readServerTexts(site, ana, conversation);
  await expect.poll(readTexts).toContain("réponse perdue");
  await page.reload({ waitUntil: "commit" });
  await client.context.unroute(messagesPattern);
  await expect(earlyTick(client, page, "réponse perdue", "sent")).toHaveCount(1);
  await writeEarly(page, "après");
  await expect(earlyTick(client, page, "après", "sent")).toBeVisible();

  // Answers are lost until the app takes over.
  await loseAnswers();
  const posted = watchPosts(client);
  await writeEarly(page, "sans réponse");
  await expect.poll(() => posted.length).toBeGreaterThan(1); // repeated under the same client id
  await expect(earlyTick(client, page, "sans réponse", "sending")).toBeVisible();
  release();
  await expect(client.ticks("sans réponse", "sent", page)).toBeVisible({ timeout: 30_000 });
  for (const text of ["réponse perdue", "après", "sans réponse"])
    await expect(client.message(text, page)).toHaveCount(1);
  const texts = ["bonjour", "perdu en route", "encore un", "réponse perdue", "après", "sans réponse"];
  expect(await readTexts()).toEqual(texts);
});

test("an expired session is renewed before the scripts, once, and the app uses it; a later answer is shown before the app is connected", async ({
  browser,
  server,
}) => {
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
  const texts = ["bonjour", "session expirée", "ensuite"];
  expect(await readServerTexts(site, ben, conversation)).toEqual(texts);

  // The answer to the next message arrives after the takeover.
  await dropAppFiles(page);
  const releaseNext = await holdScripts(client.context);
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
  await page.reload({ waitUntil: "commit" });
  await writeEarly(page, "réponse tardive");
  await expect.poll(() => readServerTexts(site, ben, conversation)).toEqual([...texts, "réponse tardive"]);
  releaseNext();
  await expect(firstView(page)).toHaveCount(0, { timeout: 30_000 });
  await expect(client.ticks("réponse tardive", "sending", page)).toBeVisible();
  answer();
  await expect(client.ticks("réponse tardive", "sent", page)).toBeVisible();
  connect();
});

test("a server that dies during the first view and returns gets every message once, in order", async ({ browser }) => {
  const server = await startServer({ vars: cheapWork });
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
    expect(await readServerTexts(site, ben, conversation)).toEqual(["bonjour", "vivant", "mort 1", "mort 2"]);
    await client.close();
  } finally {
    await server.stop();
  }
});
