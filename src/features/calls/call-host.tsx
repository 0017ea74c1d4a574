import { useEffect } from "react";
import { subscribeCallSayings } from "../../calls/actions";
import { unlockSound } from "../../calls/sound";
import { useCall } from "../../calls/use-call";
import { late } from "../../components/late";

const CallLayer = late(() => import("./call-layer"));

/** Stands at the top of the app: listens for calls, and shows the one there is. All of that comes when it is needed. */
export function CallHost() {
  const call = useCall();
  useEffect(unlockSound, []);
  useEffect(
    () =>
      subscribeCallSayings((saying) => {
        void import("./sayings").then(({ tellSaying }) => tellSaying(saying));
      }),
    [],
  );
  return call && <CallLayer call={call} />;
}
