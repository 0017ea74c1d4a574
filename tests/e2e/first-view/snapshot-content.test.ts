import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { ageSession, openKept, readSnapshots } from "#tests/support/browser/snapshots.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, testPassword } from "#tests/support/people/people.ts";

/** Records whether any document of this page has shown a text, however briefly. */
const watchFor = (page: Page, text: string): Promise<unknown> =>
  page.addInitScript((text) => {
    const look = () => {
      if (document.body?.textContent.includes(text)) sessionStorage.setItem(`seen ${text}`, "1");
      setTimeout(look, 1);
    };
    look();
  }, text);
const wasSeen = (page: Page, text: string): Promise<boolean> =>
  page.evaluate((text) => sessionStorage.getItem(`seen ${text}`) !== null, text);

test("what is deleted, edited, cleared or blocked leaves the snapshots of both people at once, offline too", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9767), await makePerson(site, 9768)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ana, conversation, ["à supprimer", "à modifier", "à effacer", "à bloquer"]);
  const clients = [
    await openKept(browser, server, ana, `/app/chat/${ben.id}`),
    await openKept(browser, server, ben, `/app/chat/${ana.id}`),
  ];
  const [anas, bens] = clients.map(({ page }) => page) as [Page, Page];
  const path = `/api/conversations/${conversation}`;
  const call = async (person: typeof ana, method: string, route: string, body?: object) =>
    expect(
      (await callSite(site, method, route, { token: person.token, ...(body ? { body } : {}) })).status,
    ).toBeLessThan(300);
  const expectGone = async (text: string, pages: readonly Page[]) => {
    for (const page of pages) await expect.poll(() => readSnapshots(page), { timeout: 5_000 }).not.toContain(text);
  };
  const expectSaved = async (text: string, pages: readonly Page[]) => {
    for (const page of pages) await expect.poll(() => readSnapshots(page), { timeout: 15_000 }).toContain(text);
  };

  await expectSaved("à supprimer", [anas, bens]);
  await call(ana, "DELETE", `${path}/messages/1`);
  await expectGone("à supprimer", [anas, bens]);
  await expectSaved("à modifier", [anas, bens]); // drawn again
  await call(ana, "PATCH", `${path}/messages/2`, { edit: 0, text: "modifié" });
  await expectGone("à modifier", [anas, bens]);
  await expectSaved("modifié", [anas, bens]);
  await call(ben, "POST", `${path}/clear`, { upTo: 3 });
  await expectGone("à effacer", [bens]);
  await expectSaved("à bloquer", [bens]);
  const blocked = await bens.evaluate(
    async (id) => (await fetch(`/api/blocks/${id}`, { method: "PUT" })).status,
    ana.id,
  );
  expect(blocked).toBeLessThan(300);
  await expect.poll(async () => (await readSnapshots(bens)).includes("<textarea"), { timeout: 5_000 }).toBe(false);

  for (const { context } of clients) await context.setOffline(true);
  const next = await clients[0]?.context.newPage();
  if (!next) throw new Error("no browser");
  for (const text of ["à supprimer", "à modifier"]) await watchFor(next, text);
  await next.goto(`/app/chat/${ben.id}`);
  await expect(next.getByText("modifié", { exact: true }).last()).toBeVisible();
  expect(await Promise.all(["à supprimer", "à modifier"].map((text) => wasSeen(next, text)))).toEqual([false, false]);
  for (const client of clients) await client.close();
});

test("a session that was ended elsewhere a day ago shows nothing of its person before the server has answered", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9769), await makePerson(site, 9770)];
  await connectPeople(site, ana, ben);
  await sendTexts(site, ana, privateConversationId(ana.id, ben.id), ["pour Ben seul"]);
  const path = `/app/chat/${ana.id}`;
  const client = await openKept(browser, server, ben, path);
  const { page, context } = client;
  const start = async (seen = "pour Ben seul") => {
    await ageSession(page, 25);
    const next = await context.newPage();
    await watchFor(next, seen);
    await next.goto(path);
    return next;
  };

  // Without a network the device shows what it has. A page of its origin sets the clock back, the app runs in others.
  await page.goto("/favicon.svg");
  await context.setOffline(true);
  const offline = await start();
  await expect(client.message("pour Ben seul", offline)).toBeVisible();
  await offline.close();
  await context.setOffline(false);

  // A session that is still valid is renewed first.
  const online = await start();
  await expect(client.message("pour Ben seul", online)).toBeVisible();
  const expiresAt = await online.evaluate(() => JSON.parse(localStorage.getItem("session") ?? "{}").expiresAt);
  expect(expiresAt).toBeGreaterThan(Date.now());
  await online.close();

  const { body } = await callSite(site, "POST", "/api/auth/token?grant_type=password", {
    body: { phone: ben.phone, password: testPassword },
  });
  const { access_token: token } = body as { access_token: string };
  expect((await callSite(site, "DELETE", "/api/auth/sessions", { token })).status).toBe(204);
  const ended = await start();
  await expect(ended).toHaveURL(/\/login$/);
  await expect(ended.getByText(client.texts.auth.sessionEnded)).toBeVisible();
  expect(await wasSeen(ended, "pour Ben seul")).toBe(false);
  await expect
    .poll(() => ended.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name)))
    .toEqual([]);
  await client.close();
});
