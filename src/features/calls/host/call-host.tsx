import { useEffect, useEffectEvent, useRef, useState } from "react";
import { subscribeCallNotices, useCurrentCall, useOtherTabCall } from "#calls/call-state.ts";
import type { CallNotice, CallView } from "#calls/views.ts";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import type { Uuid } from "#contract/ids.ts";
import { loadWithTexts } from "#i18n/setup.ts";
import { unlockSound } from "#lib/media/sound.ts";
import { restoreFocusAfterCall, watchUserFocus } from "./focus-guard.ts";

const CallLayer = lazyComponent(() => loadWithTexts(() => import("./call-layer.tsx")));
const OtherTabBanner = lazyComponent(() => loadWithTexts(() => import("./other-tab-banner.tsx")));

/** Whether the end card shows the notice: an answered call ends with a card that also says what went wrong. */
const isShownOnEndCard = (notice: CallNotice, view: CallView | undefined): boolean =>
  notice.notice !== "inProgress" &&
  view?.state.phase === "ended" &&
  view.state.call.peer === notice.peer &&
  view.state.seconds > 0;

/** Root component of calls: observes calls and shows the current one. Everything else is loaded when needed. */
export function CallHost() {
  const call = useCurrentCall();
  const otherTab = useOtherTabCall();
  // The end card and its question outlive the call.
  const [last, setLast] = useState(call);
  // A notice may arrive before the call screen is loaded.
  const [notice, setNotice] = useState<CallNotice>();
  if (call && call !== last) {
    setLast(call);
    if (call.state.call.id !== last?.state.call.id) setNotice(undefined);
  }
  const ended = call ?? (last?.state.phase === "ended" ? last : undefined);
  const [dismissedId, setDismissedId] = useState<Uuid>();
  const shown = ended?.state.phase === "ended" && ended.state.call.id === dismissedId ? undefined : ended;
  useEffect(unlockSound, []);
  useEffect(watchUserFocus, []);
  useEffect(() => subscribeCallNotices(setNotice), []);
  const showNotice = useEffectEvent((shownNotice: CallNotice) => {
    if (isShownOnEndCard(shownNotice, shown)) return;
    void loadOrShowToast(() => import("./call-notices.ts")).then((code) => code?.showCallNoticeToast(shownNotice));
  });
  useEffect(() => {
    if (notice) showNotice(notice);
  }, [notice]);
  // The focus was in a part of the call that is gone.
  const layoutKey = shown && `${shown.state.phase === "ended"} ${shown.isMinimized}`;
  const previousLayoutKey = useRef(layoutKey);
  useEffect(() => {
    if (previousLayoutKey.current !== undefined) restoreFocusAfterCall();
    previousLayoutKey.current = layoutKey;
  }, [layoutKey]);
  if (!shown) return otherTab ? <OtherTabBanner {...otherTab} /> : null;
  const isOfShownCall = notice?.notice !== "inProgress" && notice?.peer === shown.state.call.peer;
  return (
    <CallLayer
      call={shown}
      notice={isOfShownCall ? notice : undefined}
      onLeave={() => setDismissedId(shown.state.call.id)}
    />
  );
}
