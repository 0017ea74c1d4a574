import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { listSnapshots, openKept } from "#tests/support/browser/snapshots.ts";
import { textsOf, waitForTakeover } from "#tests/support/browser/test-client.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson } from "#tests/support/people/people.ts";
import { readServerLog } from "#tests/support/server/logs.ts";

const view = (page: Page) => page.locator("#first-view");

test("the list and the last chat open from snapshots, offline too, on another day with dates instead of times, and nothing of them stays after signing out", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9031), await makePerson(site, 9032)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["gardé pour plus tard"]);
  const client = await openKept(browser, server, ben, `/app/chat/${ana.id}`);
  await expect.poll(() => listSnapshots(client.page), { timeout: 15_000 }).toEqual(["/app", `/app/chat/${ana.id}`]);

  // Without a network the content is in the first view, which the app may replace within a moment.
  await client.context.setOffline(true);
  const page = await client.context.newPage();
  await page.addInitScript(() => {
    const look = () => {
      const view = document.querySelector("#first-view");
      const time = view?.querySelector("time")?.textContent;
      if (view?.textContent.includes("gardé pour plus tard") && time) Object.assign(window, { drawnTime: time });
      else setTimeout(look, 1);
    };
    look();
  });
  const openSnapshot = async (path: string) => {
    const response = await page.goto(path, { waitUntil: "commit" });
    expect(response?.headers()["cache-control"]).toBe("private, no-store");
    await page.waitForFunction(() => Reflect.get(window, "drawnTime"));
    return page.evaluate(() => String(Reflect.get(window, "drawnTime")));
  };
  await openSnapshot(`/app/chat/${ana.id}`);
  expect(await openSnapshot("/app")).toMatch(/^\d\d:\d\d$/);
  await page.clock.setFixedTime(Date.now() + 2 * 86_400_000);
  expect(await openSnapshot("/app")).toMatch(/^\d\d\/\d\d\/\d{4}$/);
  await page.close();
  await client.context.setOffline(false);

  await client.openRoute("/app/profile");
  await client.page.getByRole("button", { name: client.texts.profile.signOut, exact: true }).click();
  await client.page.waitForURL((url) => url.pathname === "/");
  await expect.poll(() => listSnapshots(client.page)).toEqual([]);
  await client.page.goto("/app", { waitUntil: "commit" });
  await expect(view(client.page).locator("> *")).toHaveCount(0);
  await client.close();
});

test("the list and a chat whose cache was lost replace their snapshots once the server has answered", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9550), await makePerson(site, 9551)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["toujours là"]);
  const client = await openKept(browser, server, ben, `/app/chat/${ana.id}`);
  const { page } = client;
  for (const path of [`/app/chat/${ana.id}`, "/app"]) {
    await expect.poll(() => listSnapshots(page), { timeout: 15_000 }).toContain(path);
    await page.goto("/favicon.svg");
    await page.evaluate(async (name) => {
      const deletion = indexedDB.deleteDatabase(name);
      await new Promise((resolve) => deletion.addEventListener("success", resolve));
    }, `lisolo-${ben.id}`);
    // An app that cannot draw the screen gives up waiting after twenty seconds.
    await page.goto(path, { waitUntil: "commit" });
    await page.locator("#first-view > *").first().waitFor();
    await expect(view(page).locator("> *")).toHaveCount(0, { timeout: 10_000 });
    await expect(page.getByText("toujours là")).toBeVisible();
  }
  await client.close();
});

test("a warm start sends a message of a snapshot once, without the app, and shows no composer in a group that was left and nothing in a former language", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9761), await makePerson(site, 9762)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ana, conversation, ["bonjour"]);
  const group = await makeGroup(site, ana, "Chorale", [ben]);
  await sendTexts(site, ana, group, ["entre nous"]);
  const path = `/app/chat/${ana.id}`;
  const client = await openKept(browser, server, ben, path);
  const { context } = client;
  const page = await context.newPage();
  await page.addInitScript(() => {
    // The service worker serves the scripts, so the app is kept from starting.
    new MutationObserver(() => {
      for (const script of document.querySelectorAll("script[type=module]")) script.remove();
    }).observe(document, { childList: true, subtree: true });
  });
  await client.page.close();
  await page.goto(path, { waitUntil: "commit" });
  await view(page).getByRole("textbox").fill("depuis la copie");
  await page.keyboard.press("Enter");
  await expect(
    view(page).getByRole("listitem").last().getByRole("img", { name: client.texts.chat.status.sent, exact: true }),
  ).toBeVisible();
  await page.close();
  const app = await context.newPage();
  await app.goto(path);
  await waitForTakeover(app);
  await expect(client.message("depuis la copie", app)).toHaveCount(1);
  const texts = (await readServerLog(site, ben, conversation)).map(({ text }) => text);
  expect(texts).toEqual(["bonjour", "depuis la copie"]);

  // A group that was left while its snapshot was kept.
  await app.goto(`/app/group/${group}`);
  await expect.poll(() => listSnapshots(app), { timeout: 15_000 }).toContain(`/app/group/${group}`);
  const left = await callSite(site, "DELETE", `/api/groups/${group}/members/${ben.id}`, { token: ben.token });
  expect(left.status).toBe(204);
  await expect.poll(() => listSnapshots(app)).not.toContain(`/app/group/${group}`);
  const former = await context.newPage();
  await former.addInitScript(() => {
    const look = () => {
      if (document.querySelector("textarea")) Object.assign(window, { hasShown: true });
      setTimeout(look, 1);
    };
    look();
  });
  await former.goto(`/app/group/${group}`);
  await expect(former.getByText(client.texts.groups.chat.youLeft)).toBeVisible();
  await expect(former.getByText("entre nous", { exact: true }).last()).toBeVisible();
  expect(await former.evaluate(() => Reflect.get(window, "hasShown"))).toBeUndefined();
  await former.close();

  // A language that was chosen after the snapshot.
  await app.goto(path);
  await expect.poll(() => listSnapshots(app), { timeout: 15_000 }).toContain(path);
  await app.goto("/app/profile");
  await app.getByRole("radio", { name: "English", exact: true }).check({ force: true });
  await expect(app.getByRole("button", { name: textsOf.en.profile.signOut, exact: true })).toBeVisible();
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
