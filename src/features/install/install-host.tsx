import { useState, useSyncExternalStore } from "react";
import { useLocation } from "react-router";
import { useIsCallScreenOpen } from "#calls/call-state.ts";
import { installPrompt } from "#lib/browser/install-prompt.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import { readAskHistory } from "#lib/push/ask-history.ts";
import { shouldAsk } from "#lib/push/ask-policy.ts";
import { devicePush } from "#lib/push/browser-push.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { InstallCard } from "./install-card.tsx";
import { readInstallHistory } from "./install-history.ts";
import { sentMessagesMin, shouldOfferInstall } from "./install-policy.ts";

/** Whether the question for notifications is due, which goes first. */
const useIsPushAskDue = (): boolean => {
  const state = useSyncExternalStore(devicePush.state.subscribe, devicePush.state.get);
  const mayAsk = useSyncExternalStore(pushUse.subscribe, pushUse.get) === "may-ask";
  return shouldAsk(state, readAskHistory(), { mayAsk, now: Date.now() });
};

/**
 * Asks at a suitable moment whether to install the app: over the first page only, since the question would cover what
 * somebody opened another one for.
 */
export default function InstallHost() {
  const { pathname } = useLocation();
  const prompt = useSyncExternalStore(installPrompt.subscribe, installPrompt.get);
  const [isClosed, setClosed] = useState(false);
  const [now] = useState(Date.now);
  const [history] = useState(() => readInstallHistory(now));
  const isDue = (sentMessages: number) => shouldOfferInstall(history, { sentMessages, now });
  // Messages are counted only while the answer depends on them, in the first days.
  const sentMessages =
    useLiveQuery(!isDue(0) && isDue(sentMessagesMin) ? "sent messages" : undefined, ({ store }) =>
      store.messages
        .filter(({ mine }) => mine === 1)
        .limit(sentMessagesMin)
        .count(),
    ) ?? 0;
  const isPushAskDue = useIsPushAskDue();
  const isInCall = useIsCallScreenOpen();
  if (!prompt || pathname !== "/app" || isClosed || isPushAskDue || isInCall || !isDue(sentMessages)) return null;
  return <InstallCard prompt={prompt} onClose={() => setClosed(true)} />;
}
