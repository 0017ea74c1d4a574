import { useEffect, useEffectEvent, useRef, useState } from "react";
import { subscribeCallNotices } from "#calls/actions.ts";
import { useCurrentCall, useOtherTabCall } from "#calls/hooks.ts";
import type { CallNotice, CallView } from "#calls/views.ts";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { loadWithTexts, t } from "#i18n/setup.ts";
import { unlockSound } from "#lib/browser/sound.ts";
import { restoreFocusAfterCall, watchUserFocus } from "./focus-guard.ts";

const CallLayer = lazyComponent(() => loadWithTexts(() => import("./call-layer.tsx")));
const OtherTabBanner = lazyComponent(() => loadWithTexts(() => import("./other-tab-banner.tsx")));

/** A call that was talked ends with a card, which says what went wrong too. */
const isShownOnEndCard = (saying: CallNotice, view: CallView | undefined): boolean =>
  saying.notice !== "inProgress" &&
  view?.state.at === "ended" &&
  view.state.call.peer === saying.peer &&
  view.state.seconds > 0;

/** Stands at the top of the app: listens for calls, and shows the one there is. All of that comes when it is needed. */
export function CallHost() {
  const call = useCurrentCall();
  const otherTab = useOtherTabCall();
  // How a call ended is told, and asked about, longer than the call itself is there.
  const [last, setLast] = useState(call);
  // It may be said before anything of a call's screen is here.
  const [said, setSaid] = useState<CallNotice>();
  if (call && call !== last) {
    setLast(call);
    if (call.state.call.id !== last?.state.call.id) setSaid(undefined);
  }
  const ended = call ?? (last?.state.at === "ended" ? last : undefined);
  const [left, setLeft] = useState<Uuid>();
  const shown = ended?.state.at === "ended" && ended.state.call.id === left ? undefined : ended;
  useEffect(unlockSound, []);
  useEffect(watchUserFocus, []);
  useEffect(() => subscribeCallNotices(setSaid), []);
  const tell = useEffectEvent((saying: CallNotice) => {
    if (isShownOnEndCard(saying, shown)) return;
    loadWithTexts(() => import("./call-notices.ts")).then(
      ({ showCallNoticeToast: tellSaying }) => tellSaying(saying, shown?.state.call.isCaller ?? true),
      // Without it there is no call either, and that is what there is to say.
      () => showToast({ tone: "danger", title: t("calls.say.failed"), message: t("errors.offline") }),
    );
  });
  useEffect(() => {
    if (said) tell(said);
  }, [said]);
  // What of a call had the focus went with it.
  const place = shown && `${shown.state.at === "ended"} ${shown.isMinimized}`;
  const placeBefore = useRef(place);
  useEffect(() => {
    if (placeBefore.current !== undefined) restoreFocusAfterCall();
    placeBefore.current = place;
  }, [place]);
  if (!shown) return otherTab ? <OtherTabBanner {...otherTab} /> : null;
  const isSaid = said?.notice !== "inProgress" && said?.peer === shown.state.call.peer;
  return <CallLayer call={shown} said={isSaid ? said : undefined} onLeave={() => setLeft(shown.state.call.id)} />;
}
