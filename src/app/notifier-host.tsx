import { useState } from "react";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { getServerNow } from "#lib/browser/clock.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";

const idleTimeoutMs = 10_000;

/** Resolves when the browser is idle. */
const waitForIdle = (): Promise<unknown> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in globalThis) requestIdleCallback(resolve, { timeout: idleTimeoutMs });
    else setTimeout(resolve, idleTimeoutMs / 4);
  });

const Notifier = lazyComponent(async () => {
  await waitForIdle();
  return import("#features/notifier/notifier.tsx");
});

/** Loads the notifier of incoming messages and requests once the app is idle and connected. */
export function NotifierHost(props: { pathname: string; isListShown: boolean }) {
  const isOnline = useLinkState() === "online";
  const [openedAt, setOpenedAt] = useState(() => (isOnline ? getServerNow() : undefined));
  if (isOnline && openedAt === undefined) setOpenedAt(getServerNow());
  return openedAt !== undefined && <Notifier openedAt={openedAt} {...props} />;
}
