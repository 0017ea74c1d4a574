import { type Browser, expect, type Page } from "@playwright/test";
import type { Person } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";
import { waitForOfflineReady, withServiceWorker } from "./offline.ts";
import { TestClient } from "./test-client.ts";

/** Paths of the snapshots of first views that a browser has. */
export const listSnapshots = (page: Page): Promise<string[]> =>
  page.evaluate(async () => (await (await caches.open("first-views")).keys()).map(({ url }) => new URL(url).pathname));

/** All snapshots of first views as one text. */
export const readSnapshots = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const cache = await caches.open("first-views");
    const found = await Promise.all((await cache.keys()).map((request) => cache.match(request)));
    return (await Promise.all(found.map((response) => response?.text()))).join("\n");
  });

/** Opens a chat as a device that was used before, and waits for its snapshot. */
export const openKept = async (browser: Browser, server: Server, person: Person, path: string) => {
  const context = await browser.newContext({ baseURL: server.origin, ...withServiceWorker });
  const client = await TestClient.openIn(context, server, "fr", true);
  await client.signIn(person, path);
  await waitForOfflineReady(client.page);
  await expect.poll(() => listSnapshots(client.page), { timeout: 15_000 }).toContain(path);
  return client;
};

/** Makes the server's last confirmation of the session older, for the app and for the snapshots. */
export const ageSession = (page: Page, hours: number): Promise<void> =>
  page.evaluate(async (ms) => {
    const session = JSON.parse(localStorage.getItem("session") ?? "{}");
    localStorage.setItem("session", JSON.stringify({ ...session, expiresAt: session.expiresAt - ms }));
    const cache = await caches.open("first-views");
    for (const request of await cache.keys()) {
      const snapshot = await (await cache.match(request))?.json();
      await cache.put(request, Response.json({ ...snapshot, confirmedAt: snapshot.confirmedAt - ms }));
    }
  }, hours * 3_600_000);
