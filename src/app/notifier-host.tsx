import { useState } from "react";
import { late } from "#components/layout/lazy-component.tsx";
import { serverNow } from "#lib/browser/clock.ts";
import { useLink } from "#sync/hooks/use-live-query.ts";

const longestWaitMs = 10_000;

/** Resolves when the page has nothing more urgent to do. */
const whenIdle = (): Promise<unknown> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(resolve, { timeout: longestWaitMs });
    else setTimeout(resolve, longestWaitMs / 4);
  });

const Notifier = late(async () => {
  await whenIdle();
  return import("#features/notifier/notifier.tsx");
});

/** What says that something arrives: fetched once the app is there and something can. */
export function NotifierHost(props: { pathname: string; isListShown: boolean }) {
  const isOnline = useLink() === "online";
  const [openedAt, setOpenedAt] = useState(() => (isOnline ? serverNow() : undefined));
  if (isOnline && openedAt === undefined) setOpenedAt(serverNow());
  return openedAt !== undefined && <Notifier openedAt={openedAt} {...props} />;
}
