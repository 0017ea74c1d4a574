import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { waitForOfflineReady, withServiceWorker } from "#tests/support/browser/offline.ts";
import { listSnapshots, openKept } from "#tests/support/browser/snapshots.ts";
import { TestClient, textsOf, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

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

  // Without a network the content is in the first view, which the app may replace within a moment.
  await client.context.setOffline(true);
  const page = await client.context.newPage();
  await page.addInitScript(() => {
    const look = () => {
      if (document.querySelector("#first-view")?.textContent.includes("gardé pour plus tard"))
        Object.assign(window, { isDrawn: true });
      else setTimeout(look, 1);
    };
    look();
  });
  for (const path of ["/app", `/app/chat/${ana.id}`]) {
    const response = await page.goto(path, { waitUntil: "commit" });
    expect(response?.headers()["cache-control"]).toBe("private, no-store");
    await page.waitForFunction(() => Reflect.get(window, "isDrawn"));
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

test("a message sent in a snapshot is sent once, without the app", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9761), await makePerson(site, 9762)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ana, conversation, ["bonjour"]);
  const client = await openKept(browser, server, ben, `/app/chat/${ana.id}`);
  await client.page.close();
  const page = await client.context.newPage();
  await page.addInitScript(() => {
    // The service worker serves the scripts, so the app is kept from starting.
    new MutationObserver(() => {
      for (const script of document.querySelectorAll("script[type=module]")) script.remove();
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(`/app/chat/${ana.id}`, { waitUntil: "commit" });
  await view(page).getByRole("textbox").fill("depuis la copie");
  await page.keyboard.press("Enter");
  await expect(
    view(page).getByRole("listitem").last().getByRole("img", { name: client.texts.chat.status.sent, exact: true }),
  ).toBeVisible();
  await page.close();
  const next = await client.context.newPage();
  await next.goto(`/app/chat/${ana.id}`);
  await waitForTakeover(next);
  await expect(client.message("depuis la copie", next)).toHaveCount(1);
  const texts = (await readServerLog(site, ben, conversation)).map(({ text }) => text);
  expect(texts).toEqual(["bonjour", "depuis la copie"]);
  await client.close();
});

test("a warm start shows nothing in a former language", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9763), await makePerson(site, 9764)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["bonjour"]);
  const path = `/app/chat/${ana.id}`;
  const client = await openKept(browser, server, ben, path);
  const { page, context } = client;
  await client.goTo("/app/profile");
  await page.getByRole("radio", { name: "English", exact: true }).check({ force: true });
  await expect(page.getByRole("button", { name: textsOf.en.profile.signOut, exact: true })).toBeVisible();
  const next = await context.newPage();
  await next.addInitScript(() => {
    const look = () => {
      const label = document.querySelector("#first-view textarea")?.getAttribute("placeholder");
      if (label) Object.assign(window, { label });
      setTimeout(look, 1);
    };
    look();
  });
  await next.goto(path);
  await waitForTakeover(next);
  await expect(next.getByPlaceholder(textsOf.en.chat.placeholder)).toBeVisible();
  expect([undefined, textsOf.en.chat.placeholder]).toContain(await next.evaluate(() => Reflect.get(window, "label")));
  await client.close();
});

test("a warm start shows no composer in a group that was left", async ({ browser, server }) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9765), await makePerson(site, 9766)];
  await connectPeople(site, ana, ben);
  const group = await makeGroup(site, ana, "Chorale", [ben]);
  await sendTexts(site, ana, group, ["entre nous"]);
  const path = `/app/group/${group}`;
  const client = await openKept(browser, server, ben, path);
  const left = await callSite(site, "DELETE", `/api/groups/${group}/members/${ben.id}`, { token: ben.token });
  expect(left.status).toBe(204);
  await expect.poll(() => listSnapshots(client.page)).not.toContain(path);
  const page = await client.context.newPage();
  await page.addInitScript(() => {
    const look = () => {
      if (document.querySelector("textarea")) Object.assign(window, { hasShown: true });
      setTimeout(look, 1);
    };
    look();
  });
  await page.goto(path);
  await expect(page.getByText(client.texts.groups.chat.youLeft)).toBeVisible();
  await expect(page.getByText("entre nous", { exact: true }).last()).toBeVisible();
  expect(await page.evaluate(() => Reflect.get(window, "hasShown"))).toBeUndefined();
  await client.close();
});
