import type { Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { ageSession, openKept, readSnapshots } from "#tests/support/browser/snapshots.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, signInAgain } from "#tests/support/people/people.ts";

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

test("what is deleted, edited, cleared or blocked leaves the snapshots of both people at once, offline too; a session that was ended elsewhere a day ago shows nothing before the server has answered", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 9767), await makePerson(site, 9768)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  await sendTexts(site, ana, conversation, ["à supprimer", "à modifier", "à effacer", "à bloquer"]);
  const client = await openKept(browser, server, ana, `/app/chat/${ben.id}`);
  const bensClient = await openKept(browser, server, ben, `/app/chat/${ana.id}`);
  const { page, context } = client;
  const [anas, bens] = [page, bensClient.page];
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
  await bensClient.close();

  const start = async (texts: readonly string[]) => {
    const next = await context.newPage();
    for (const text of texts) await watchFor(next, text);
    await next.goto(`/app/chat/${ben.id}`);
    return next;
  };
  // A page of its origin sets the clock back, the app runs in others.
  await expectSaved("modifié", [page]);
  await page.goto("/favicon.svg");
  await context.setOffline(true);
  const offline = await start(["à supprimer", "à modifier"]);
  await expect(offline.getByText("modifié", { exact: true }).last()).toBeVisible();
  for (const text of ["à supprimer", "à modifier"]) expect(await wasSeen(offline, text)).toBe(false);
  await offline.close();

  // Without a network the device shows what it has.
  await ageSession(page, 25);
  const dayLater = await start([]);
  await expect(client.message("modifié", dayLater)).toBeVisible();
  await dayLater.close();
  await context.setOffline(false);

  // A session that is still valid is renewed first.
  await ageSession(page, 25);
  const online = await start([]);
  await expect(client.message("modifié", online)).toBeVisible();
  const expiresAt = await online.evaluate(() => JSON.parse(localStorage.getItem("session") ?? "{}").expiresAt);
  expect(expiresAt).toBeGreaterThan(Date.now());
  await expectSaved("modifié", [online]); // there is something that the ended session must not show
  await online.close();

  const { token } = await signInAgain(site, ana);
  expect((await callSite(site, "DELETE", "/api/auth/sessions", { token })).status).toBe(204);
  await ageSession(page, 25);
  const ended = await start(["modifié"]);
  await expect(ended).toHaveURL(/\/login$/);
  await expect(ended.getByText(client.texts.auth.sessionEnded)).toBeVisible();
  expect(await wasSeen(ended, "modifié")).toBe(false);
  await expect
    .poll(() => ended.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name)))
    .toEqual([]);
  await client.close();
});
