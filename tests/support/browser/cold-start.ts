import type { Browser, BrowserContext, Locator, Page } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import { sendTexts } from "#tests/support/people/messages.ts";
import { connectPeople, makePerson, type Person, type Site } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";
import { TestClient } from "./test-client.ts";

export const phoneOptions = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true } as const;

/** Two contacts, the first of whom has sent these texts. */
export const makeChat = async (site: Site, n: number, texts: readonly string[]) => {
  const [ana, ben] = [await makePerson(site, n), await makePerson(site, n + 1)];
  await connectPeople(site, ana, ben);
  const conversation = privateConversationId(ana.id, ben.id);
  for (const text of texts) await sendTexts(site, ana, conversation, [text]);
  return { ana, ben, conversation };
};

/** Signed-in browser without anything of the app: no service worker, no store, no cache. */
export const openCold = async (client: TestClient, person: Person, page?: Page): Promise<Page> => {
  const expires = await client.setSessionCookies(person);
  page ??= await client.context.newPage();
  await page.goto("/favicon.svg");
  const session = JSON.stringify({ userId: person.id, expiresAt: expires * 1_000 });
  await page.evaluate((text) => localStorage.setItem("session", text), session);
  return page;
};

/** Holds the app's scripts back, of all pages or of one, until the returned function is called. */
export const holdScripts = async (
  context: Pick<BrowserContext | Page, "route">,
  pattern = "**/assets/*.js",
): Promise<() => void> => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await context.route(pattern, async (route) => {
    await released;
    await route.continue().catch(() => undefined);
  });
  return release;
};

/** Client on a phone whose navigations do not wait for the app. */
export const openPhone = async (browser: Browser, server: Server): Promise<TestClient> =>
  TestClient.openIn(
    await browser.newContext({ baseURL: server.origin, serviceWorkers: "block", ...phoneOptions }),
    server,
    "fr",
    true,
  );

export const firstView = (page: Page): Locator => page.locator("#first-view");

/** Makes this page's next documents add up their layout shifts. */
export const recordLayoutShift = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        Object.assign(window, { shift: (Reflect.get(window, "shift") ?? 0) + Reflect.get(entry, "value") });
    }).observe({ type: "layout-shift", buffered: true });
  });

export const readLayoutShift = (page: Page): Promise<number> => page.evaluate(() => Reflect.get(window, "shift") ?? 0);

/** Number of stored messages; undefined while there is no database. */
export const countStoredMessages = (page: Page): Promise<number | undefined> =>
  page.evaluate(async () => {
    const databases = await indexedDB.databases(); // opening it before the app does would create an empty one
    const database = databases.find(({ name }) => /^lisolo-[\da-f-]{36}$/.test(name ?? ""));
    if (!database?.name) return undefined;
    const open = indexedDB.open(database.name);
    await new Promise((resolve) => open.addEventListener("success", resolve));
    const count = open.result.transaction("messages").objectStore("messages").count();
    await new Promise((resolve) => count.addEventListener("success", resolve));
    open.result.close();
    return count.result;
  });
