import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { useLocation, useNavigate } from "react-router";
import { findFragmentSeq } from "#contract/push.ts";
import { subscribePushMessages } from "#lib/browser/push/push-messages.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import { readAskHistory } from "#lib/push/ask-history.ts";
import { shouldAsk } from "#lib/push/ask-policy.ts";
import { devicePush } from "#lib/push/browser-push.ts";
import { takeOverUnsent } from "#sync/actions/messages.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import { AskCard } from "./ask-card.tsx";
import { closeAnsweredRequests } from "./close-answered-requests.ts";
import { closeCallNotifications } from "./close-call-notifications.ts";
import { closeReactionNotifications } from "./close-reaction-notifications.ts";
import { closeReadNotifications } from "./close-read-notifications.ts";

/**
 * Notifications of the closed app: renews this device's subscription, closes what was read, opens what was tapped, and
 * asks once after a message or a call.
 */
export default function PushHost() {
  const engine = useSyncExternalStore(currentEngine.subscribe, currentEngine.get);
  const state = useSyncExternalStore(devicePush.state.subscribe, devicePush.state.get);
  const mayAsk = useSyncExternalStore(pushUse.subscribe, pushUse.get) === "may-ask";
  const [isAnswered, setAnswered] = useState(false);
  const [isStarted, setStarted] = useState(false);
  const navigate = useNavigate();
  const { pathname, hash } = useLocation();
  const openPath = useEffectEvent((path: string) => void navigate(path));
  useEffect(() => {
    const start = async () => {
      // Tried again at the next start.
      await devicePush.start().catch((error: unknown) => console.warn("push subscription", error));
      await navigator.serviceWorker?.ready; // without a worker nothing could be turned on
      setStarted(true);
    };
    void start();
    return subscribePushMessages((message, answer) => {
      if (message.type === "outbox-changed") void takeOverUnsent();
      if (message.type !== "open-path") return;
      openPath(message.path);
      answer();
    });
  }, []);
  useEffect(() => {
    if (!engine) return;
    const { pushKeyVersion } = engine.client;
    const renew = async () => {
      if (pushKeyVersion.get() > 0) await devicePush.start(true);
    };
    // Tried again at the next start.
    const update = () => void renew().catch((error: unknown) => console.warn("push subscription", error));
    update();
    return pushKeyVersion.subscribe(update);
  }, [engine]);
  useEffect(() => engine && closeReadNotifications(engine), [engine]);
  useEffect(() => {
    // A notification that opened the app names a message.
    const seq = findFragmentSeq(hash);
    if (seq !== undefined) void navigate(pathname, { replace: true, state: { openAt: seq } });
  }, [pathname, hash, navigate]);
  useEffect(() => closeReactionNotifications(pathname), [pathname]);
  useEffect(() => engine && closeAnsweredRequests(engine), [engine]);
  useEffect(() => engine && closeCallNotifications(engine), [engine]);
  const isAtSwitch = pathname === "/app/notifications"; // which turns the same on
  const isAsking =
    isStarted && !isAnswered && !isAtSwitch && shouldAsk(state, readAskHistory(), { mayAsk, now: Date.now() });
  return isAsking && <AskCard onClose={() => setAnswered(true)} />;
}
