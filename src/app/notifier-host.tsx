import { useState } from "react";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { getServerNow } from "#lib/browser/clock.ts";
import { useLinkState } from "#sync/hooks/use-live-query.ts";

const idleTimeoutMs = 10_000;

/** Resolves when the page has nothing more urgent to do. */
const waitForIdle = (): Promise<unknown> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(resolve, { timeout: idleTimeoutMs });
    else setTimeout(resolve, idleTimeoutMs / 4);
  });

const Notifier = lazyComponent(async () => {
  await waitForIdle();
  return import("#features/notifier/notifier.tsx");
});

/** What says that something arrives: fetched once the app is there and something can. */
export function NotifierHost(props: { pathname: string; isListShown: boolean }) {
  const isOnline = useLinkState() === "online";
  const [openedAt, setOpenedAt] = useState(() => (isOnline ? getServerNow() : undefined));
  if (isOnline && openedAt === undefined) setOpenedAt(getServerNow());
  return openedAt !== undefined && <Notifier openedAt={openedAt} {...props} />;
}
