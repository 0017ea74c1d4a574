import { useEffect, useState, useSyncExternalStore } from "react";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithIdleTexts, loadWithTexts } from "#i18n/setup.ts";
import { waitForIdle } from "#lib/browser/idle.ts";
import { installPrompt } from "#lib/browser/install-prompt.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { preloadChats } from "./routes.ts";

const Notifier = lazyComponent(async () => {
  await waitForIdle();
  return loadWithIdleTexts(() => import("#features/notifier/notifier.tsx"));
});

const PushHost = lazyComponent(async () => {
  await waitForIdle();
  return loadWithIdleTexts(() => import("#features/push/push-host.tsx"));
});

const InstallHost = lazyComponent(async () => {
  await waitForIdle();
  return loadWithTexts(() => import("#features/install/install-host.tsx"));
});

/**
 * Once the app is idle and connected, loads the notifier of incoming messages and requests, notifications of the closed
 * app where they are used, the question whether to install the app where the browser offers it, and the pages to come.
 */
export function NotifierHost(props: { pathname: string; isListShown: boolean }) {
  const isOnline = useLinkState() === "online";
  const [openedAt, setOpenedAt] = useState(() => (isOnline ? getServerNow() : undefined));
  if (isOnline && openedAt === undefined) setOpenedAt(getServerNow());
  useEffect(() => {
    if (isOnline) void waitForIdle().then(preloadChats);
  }, [isOnline]);
  const isPushUsed = useSyncExternalStore(pushUse.subscribe, pushUse.get) !== "none";
  const canInstall = useSyncExternalStore(installPrompt.subscribe, installPrompt.get) !== undefined;
  if (openedAt === undefined) return null;
  return (
    <>
      <Notifier openedAt={openedAt} {...props} />
      {isPushUsed && <PushHost />}
      {canInstall && <InstallHost />}
    </>
  );
}
