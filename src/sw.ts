import { shareTargetPath } from "#contract/wire/share-target.ts";
import { deleteOldFiles, installAppShell, respondWithAppPage, respondWithAsset } from "./sw/app-cache.ts";
import { installEntryPages, isEntryPage, respondWithEntryPage } from "./sw/entry-pages.ts";
import { handleSync } from "./sw/notification-actions.ts";
import { handlePageRequest } from "./sw/page-requests.ts";
import { isPostPicture, respondWithAvatar, respondWithPostPicture } from "./sw/pictures.ts";
import { handleNotificationClick, handlePush, handleSubscriptionChange } from "./sw/push.ts";
import { respondWithShare } from "./sw/share-target.ts";
import { readUpdateSituation, recordInstallation, shouldInstallUpdate } from "./sw/update-policy.ts";

/**
 * Service worker: opens the app instantly and offline. It caches the app's files, the entry pages in the person's
 * language, avatars and small pictures of statuses; it caches no other API response. If caching fails (no space, no
 * permission) the network is used as if there were no worker. While the app is closed it also shows notifications,
 * receives what other apps share, and sends unsent messages.
 */
declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", (event) => {
  // Immediately: files of the previous version stay for tabs that still use it.
  event.waitUntil(
    (async () => {
      const situation = await readUpdateSituation(self.registration.active !== null);
      // The browser drops this worker, and tries again at a later visit.
      if (!shouldInstallUpdate(situation)) throw new Error("the update waits for a better connection");
      await installAppShell();
      await installEntryPages();
      await recordInstallation();
      await self.skipWaiting();
    })(),
  );
});

self.addEventListener("activate", (event) => {
  // A page that was opened before the worker existed is also served from the cache from now on.
  event.waitUntil(deleteOldFiles().then(() => self.clients.claim()));
});

self.addEventListener("message", (event) => event.waitUntil(handlePageRequest(event)));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, search } = new URL(request.url);
  if (request.method === "POST" && origin === location.origin && pathname === shareTargetPath)
    event.respondWith(respondWithShare(request));
  if (request.method !== "GET" || origin !== location.origin || request.headers.has("range")) return;
  const waitUntil = (work: Promise<unknown>) => event.waitUntil(work);
  if (request.mode === "navigate") {
    if (pathname === "/app" || pathname.startsWith("/app/")) event.respondWith(respondWithAppPage(request));
    else if (isEntryPage(pathname)) event.respondWith(respondWithEntryPage(request, pathname, waitUntil));
  } else if (pathname.startsWith("/assets/")) event.respondWith(respondWithAsset(request, pathname, waitUntil));
  else if (pathname.startsWith("/api/avatars/")) event.respondWith(respondWithAvatar(request, waitUntil));
  else if (isPostPicture(pathname, search)) event.respondWith(respondWithPostPicture(request, waitUntil));
});

self.addEventListener("push", (event) => event.waitUntil(handlePush(event.data?.text())));

self.addEventListener("notificationclick", (event) => event.waitUntil(handleNotificationClick(event)));

// Background Sync and Periodic Background Sync (W3C), which only Chromium has and which type libraries lack.
for (const type of ["sync", "periodicsync"])
  self.addEventListener(type as "install", (event: ExtendableEvent & { tag?: string }) =>
    event.waitUntil(handleSync(event.tag ?? "")),
  );

self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(handleSubscriptionChange()));
