import type { Page } from "@playwright/test";
import { createUuid } from "#contract/ids.ts";
import { expect, test } from "#tests/support/browser/browser-test.ts";
import { withServiceWorker } from "#tests/support/browser/offline.ts";
import { TestClient, textsOf } from "#tests/support/browser/test-client.ts";
import { makePicture as makePng } from "#tests/support/people/attachments.ts";
import { makeGroup } from "#tests/support/people/groups.ts";
import { toSite } from "#tests/support/people/pair.ts";
import { callSite, connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";

const { pt } = textsOf;

test.use(withServiceWorker);

/** Paths in the page's caches. */
const keptPaths = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const names = await caches.keys();
    const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return requests.flat().map(({ url }) => new URL(url).pathname);
  });

/** Waits until the service worker controls the page and its texts are cached. */
const settle = async (page: Page) => {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await expect.poll(() => keptPaths(page)).toContainEqual(expect.stringMatching(/^\/assets\/(fr|en|pt)-/));
};

test("after one visit the app opens without a network, in the person's language, and after signing out also the entry pages, which were never visited", async ({
  browser,
  server,
}) => {
  const person = await makePerson({ origin: server.origin, fetch }, 51);
  const phone = await TestClient.open(browser, server, "pt");
  const { page, context } = phone;
  await phone.signIn(person);
  await settle(page);

  // In the page that was opened before anything was cached, and without the browser's own cache.
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.clearBrowserCache");
  await context.setOffline(true);
  await phone.goToTab("contacts");
  for (const path of ["/app", "/app/senga"]) {
    await page.goto(path);
    await expect(page.getByRole("navigation", { name: pt.shell.navigation })).toBeVisible();
    await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
  }
  // Texts of screens that were never opened are cached separately from those of the list and the chats.
  await page.goto("/app/appearance");
  await expect(page.getByRole("heading", { level: 1, name: pt.appearance.title })).toBeVisible();

  // A page that was loaded without the worker is controlled nevertheless.
  await context.setOffline(false);
  await page.addInitScript(() => Object.assign(window, { firstController: navigator.serviceWorker.controller }));
  const loaded = page.waitForEvent("load");
  await devtools.send("Page.reload", { ignoreCache: true });
  await loaded;
  expect(await page.evaluate(() => Reflect.get(window, "firstController"))).toBeNull();
  await settle(page);

  await phone.openRoute("/app/profile");
  await page.getByRole("button", { name: pt.profile.signOut, exact: true }).click();
  await page.waitForURL((url) => url.pathname === "/");
  await settle(page);
  await context.setOffline(true);
  for (const [path, shown] of [
    ["/app", pt.auth.loginTitle],
    ["/register", pt.auth.registerTitle],
    ["/login", pt.auth.loginTitle],
    ["/recover", pt.auth.recoverTitle],
    ["/", "Lisolo"],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(shown);
    await expect(page.locator("html")).toHaveAttribute("lang", "pt");
  }
  await context.close();
});

test("an entry page that was visited once opens offline", async ({ page, context }) => {
  await page.goto("/login?lang=pt");
  await settle(page);
  await page.goto("/login"); // this one through the service worker, which caches it
  await expect.poll(() => keptPaths(page)).toContain("/login");
  await context.setOffline(true);
  await page.goto("/login");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(pt.auth.loginTitle);
});

/** Publishes a status with a picture, as the author's device does. */
const publishPicture = async (site: Site, { token }: Person, content: string): Promise<string> => {
  const id = createUuid();
  const form = new FormData();
  form.set("post", JSON.stringify({ id, content, picture: { width: 400, height: 300, thumb: "" } }));
  form.set("picture", new Blob([new Uint8Array(makePng(400, 300))], { type: "image/png" }), "picture");
  const { origin, fetch } = site;
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${origin}/api/tala`, { method: "POST", headers, body: form });
  expect(status).toBe(201);
  return id;
};

/** Stores a picture of a person or a group. */
const putPicture = async ({ origin, fetch }: Site, { token }: Person, path: string): Promise<void> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "image/png" };
  const { status } = await fetch(origin + path, { method: "PUT", headers, body: new Uint8Array(makePng(96, 96)) });
  expect(status).toBe(200);
};

test("of the API only pictures are cached: those of groups until the group ends, small ones of statuses once shown until the status is deleted, and all until the user signs out", async ({
  browser,
  server,
}) => {
  const site = toSite(server);
  const [ana, ben] = [await makePerson(site, 762, "Ana"), await makePerson(site, 763, "Ben")];
  await connectPeople(site, ana, ben);
  const group = await makeGroup(site, ana, "Famille", [ben]);
  await putPicture(site, ana, "/api/profile/avatar");
  await putPicture(site, ana, `/api/groups/${group}/picture`);
  const [first, second] = [await publishPicture(site, ana, "Le fleuve"), await publishPicture(site, ana, "Le port")];
  const phone = await TestClient.open(browser, server, "fr");
  const { page, context, texts } = phone;
  await phone.signIn(ben);
  await settle(page);
  const ofGroup = expect.stringContaining(`/api/avatars/${group}_`);
  const ofAna = expect.stringContaining(`/api/avatars/${ana.id}_`);
  const ofPost = (id: string) => expect.stringContaining(`/api/tala/pictures/${ana.id}_${id}`);
  const small = (text: string) =>
    page.getByRole("main").getByRole("listitem").filter({ hasText: text }).locator("button img");
  const isShown = (text: string) =>
    expect.poll(() => small(text).evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(200);
  await page.reload();
  await expect.poll(() => keptPaths(page)).toContainEqual(ofGroup);
  await phone.goToTab("tala");
  for (const text of ["Le fleuve", "Le port"]) await isShown(text);
  await expect.poll(() => keptPaths(page)).toEqual(expect.arrayContaining([ofAna, ofPost(first), ofPost(second)]));
  const ofApi = (await keptPaths(page)).filter((path) => path.startsWith("/api/"));
  expect(ofApi.filter((path) => !/^\/api\/(avatars|tala\/pictures)\//.test(path))).toEqual([]);

  const ended = await callSite(site, "DELETE", `/api/groups/${group}`, { token: ana.token });
  expect(ended.status).toBe(204);
  await expect.poll(() => keptPaths(page)).not.toContainEqual(ofGroup);

  // The enlarged picture is requested and not cached.
  const kept = (await keptPaths(page)).filter((path) => path.includes("/pictures/")).length;
  await small("Le port").click({ force: true });
  const large = page.getByRole("dialog").locator("img[data-scale]");
  await expect.poll(() => large.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(400);
  expect((await keptPaths(page)).filter((path) => path.includes("/pictures/")).length).toBe(kept);

  // A phone short of storage empties the browser's own cache.
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.clearBrowserCache");
  await context.setOffline(true);
  await page.reload();
  for (const text of ["Le fleuve", "Le port"]) await isShown(text);

  await context.setOffline(false);
  const { status } = await callSite(site, "DELETE", `/api/tala/${first}`, { token: ana.token });
  expect(status).toBe(204);
  await page.reload();
  await expect(small("Le fleuve")).toHaveCount(0);
  await expect.poll(() => keptPaths(page)).not.toContainEqual(ofPost(first));
  await isShown("Le port");
  expect(await keptPaths(page)).toContainEqual(ofPost(second));

  await phone.openRoute("/app/profile");
  await page.getByRole("button", { name: texts.profile.signOut, exact: true }).click();
  await page.waitForURL((url) => url.pathname === "/");
  await expect.poll(() => keptPaths(page)).not.toContainEqual(expect.stringMatching(/^\/api\//));
  await context.close();
});

test("without storage room everything works as without a service worker", async ({ page, context }) => {
  await page.goto("/favicon.svg");
  const devtools = await context.newCDPSession(page);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(page.url()).origin, quotaSize: 1_000 });
  for (const path of ["/", "/register", "/login"]) {
    await page.goto(path);
    await page.waitForLoadState("networkidle");
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  }
  await page.locator("[type=submit]").click();
  await expect(page.getByText(textsOf.fr.auth.fillAllFields)).toBeVisible();
});
