import { useEffect, useState } from "react";
import type { Uuid } from "../../../contract/ids";
import { subscribeCallSayings } from "../../calls/actions";
import { unlockSound } from "../../calls/sound";
import { useCall } from "../../calls/use-call";
import { late } from "../../components/late";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";

const CallLayer = late(() => import("./call-layer"));

/** Stands at the top of the app: listens for calls, and shows the one there is. All of that comes when it is needed. */
export function CallHost() {
  const call = useCall();
  // How a call ended is told, and asked about, longer than the call itself is there.
  const [last, setLast] = useState(call);
  // What a toast tells of the end needs no card besides; it may be told before anything of a call's screen is here.
  const [told, setTold] = useState<Uuid>();
  if (call && call !== last) {
    setLast(call);
    if (call.state.call.id !== last?.state.call.id) setTold(undefined);
  }
  const shown = call ?? (last?.state.at === "ended" ? last : undefined);
  const [left, setLeft] = useState<Uuid>();
  useEffect(unlockSound, []);
  useEffect(
    () =>
      subscribeCallSayings((saying) => {
        if (saying.notice !== "inProgress") setTold(saying.peer);
        import("./sayings").then(
          ({ tellSaying }) => tellSaying(saying),
          // Without it there is no call either, and that is what there is to say.
          () => showToast({ tone: "danger", title: t("calls.say.failed"), message: t("errors.offline") }),
        );
      }),
    [],
  );
  if (!shown || (shown.state.at === "ended" && shown.state.call.id === left)) return null;
  return (
    <CallLayer call={shown} isTold={told === shown.state.call.peer} onLeave={() => setLeft(shown.state.call.id)} />
  );
}
