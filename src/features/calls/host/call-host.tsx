import { useEffect, useEffectEvent, useRef, useState } from "react";
import { subscribeCallSayings } from "#calls/actions.ts";
import { useCall, useOtherTabCall } from "#calls/hooks.ts";
import type { CallSaying, CallView } from "#calls/views.ts";
import { late } from "#components/layout/lazy-component.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { t, withLaterTexts } from "#i18n/setup.ts";
import { unlockSound } from "#lib/browser/sound.ts";
import { giveFocusBack, watchHands } from "./focus-guard.ts";

const CallLayer = late(() => withLaterTexts(() => import("./call-layer.tsx")));
const OtherTab = late(() => withLaterTexts(() => import("./other-tab.tsx")));

/** A call that was talked ends with a card, which says what went wrong too. */
const isTold = (saying: CallSaying, view: CallView | undefined): boolean =>
  saying.notice !== "inProgress" &&
  view?.state.at === "ended" &&
  view.state.call.peer === saying.peer &&
  view.state.seconds > 0;

/** Stands at the top of the app: listens for calls, and shows the one there is. All of that comes when it is needed. */
export function CallHost() {
  const call = useCall();
  const otherTab = useOtherTabCall();
  // How a call ended is told, and asked about, longer than the call itself is there.
  const [last, setLast] = useState(call);
  // It may be said before anything of a call's screen is here.
  const [said, setSaid] = useState<CallSaying>();
  if (call && call !== last) {
    setLast(call);
    if (call.state.call.id !== last?.state.call.id) setSaid(undefined);
  }
  const ended = call ?? (last?.state.at === "ended" ? last : undefined);
  const [left, setLeft] = useState<Uuid>();
  const shown = ended?.state.at === "ended" && ended.state.call.id === left ? undefined : ended;
  useEffect(unlockSound, []);
  useEffect(watchHands, []);
  useEffect(() => subscribeCallSayings(setSaid), []);
  const tell = useEffectEvent((saying: CallSaying) => {
    if (isTold(saying, shown)) return;
    withLaterTexts(() => import("./call-notices.ts")).then(
      ({ tellSaying }) => tellSaying(saying, shown?.state.call.isCaller ?? true),
      // Without it there is no call either, and that is what there is to say.
      () => showToast({ tone: "danger", title: t("calls.say.failed"), message: t("errors.offline") }),
    );
  });
  useEffect(() => {
    if (said) tell(said);
  }, [said]);
  // What of a call had the focus went with it.
  const place = shown && `${shown.state.at === "ended"} ${shown.isMinimised}`;
  const placeBefore = useRef(place);
  useEffect(() => {
    if (placeBefore.current !== undefined) giveFocusBack();
    placeBefore.current = place;
  }, [place]);
  if (!shown) return otherTab ? <OtherTab {...otherTab} /> : null;
  const isSaid = said?.notice !== "inProgress" && said?.peer === shown.state.call.peer;
  return <CallLayer call={shown} said={isSaid ? said : undefined} onLeave={() => setLeft(shown.state.call.id)} />;
}
