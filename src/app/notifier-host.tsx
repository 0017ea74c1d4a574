import { useEffect, useState } from "react";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/clock.ts";
import { waitForIdle } from "#lib/browser/idle.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { preloadChats } from "./routes.ts";

const Notifier = lazyComponent(async () => {
  await waitForIdle();
  return loadWithIdleTexts(() => import("#features/notifier/notifier.tsx"));
});

/** Once the app is idle and connected, loads the notifier of incoming messages and requests, and the pages to come. */
export function NotifierHost(props: { pathname: string; isListShown: boolean }) {
  const isOnline = useLinkState() === "online";
  const [openedAt, setOpenedAt] = useState(() => (isOnline ? getServerNow() : undefined));
  if (isOnline && openedAt === undefined) setOpenedAt(getServerNow());
  useEffect(() => {
    if (isOnline) void waitForIdle().then(preloadChats);
  }, [isOnline]);
  return openedAt !== undefined && <Notifier openedAt={openedAt} {...props} />;
}
