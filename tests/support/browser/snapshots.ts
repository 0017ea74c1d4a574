import { type Browser, expect, type Page, type Request } from "@playwright/test";
import { trustedTypesPolicy } from "#contract/wire/document/document-headers.ts";
import type { Person } from "#tests/support/people/people.ts";
import type { Server } from "#tests/support/server/server.ts";
import { openCold, phoneOptions } from "./cold-start.ts";
import { waitForOfflineReady, withServiceWorker } from "./offline.ts";
import { TestClient } from "./test-client.ts";

type ScriptUrlPolicy = { createScriptURL(url: string): string };
type TrustedTypes = { createPolicy(name: string, rules: ScriptUrlPolicy): ScriptUrlPolicy };

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

/**
 * Removes the app's files from the cache, so that the service worker requests them again, where `holdScripts` holds them
 * back, and the server draws the next document.
 */
export const dropAppFiles = (page: Page): Promise<boolean> => page.evaluate(() => caches.delete("shell"));

/**
 * Phone of a person without anything of the app but its service worker, which is active. Nothing of the app is cached,
 * and navigations do not wait for it.
 */
export const openWarm = async (browser: Browser, server: Server, person: Person): Promise<TestClient> => {
  const context = await browser.newContext({ baseURL: server.origin, ...phoneOptions, ...withServiceWorker });
  const client = await TestClient.openIn(context, server, "fr", true);
  const { page } = client;
  await openCold(client, person, page);
  await page.evaluate(async (policy) => {
    const { trustedTypes } = window as unknown as { trustedTypes: TrustedTypes };
    const trusted = trustedTypes.createPolicy(policy, { createScriptURL: (url) => url });
    await navigator.serviceWorker.register(trusted.createScriptURL("/sw.js"));
    const { active } = await navigator.serviceWorker.ready;
    if (active?.state !== "activated")
      await new Promise<void>((resolve) =>
        active?.addEventListener("statechange", () => active.state === "activated" && resolve()),
      );
  }, trustedTypesPolicy);
  await dropAppFiles(page);
  return client;
};

/**
 * Texts that the pages and the service worker of a client have posted so far, one entry a message. The same text appears
 * again when it is repeated.
 */
export const watchPosts = ({ context }: TestClient): string[] => {
  const posted: string[] = [];
  context.on("request", (request) => {
    if (!isSending(request)) return;
    const { messages } = request.postDataJSON() as { messages: { body: { text: string } }[] };
    posted.push(...messages.map(({ body }) => body.text));
  });
  return posted;
};

/** Whether a request posts messages of a conversation. */
export const isSending = (request: Request): boolean =>
  request.method() === "POST" && /\/api\/conversations\/[^/]+\/messages$/.test(request.url());

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
