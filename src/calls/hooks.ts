import { useSyncExternalStore } from "react";
import type { Observable } from "#lib/browser/observable.ts";
import { canCall, currentCall, otherTabCall, watchCalls } from "./call-state.ts";
import type { OtherTabCall } from "./controller/other-tab-call.ts";
import type { CallView } from "./views.ts";

/** Creates a subscribe function that also starts observing calls in this tab. */
const createSubscriber =
  <T>({ subscribe }: Observable<T>) =>
  (listener: () => void) => {
    watchCalls();
    return subscribe(listener);
  };
const subscribeCall = createSubscriber(currentCall);
const subscribeCanCall = createSubscriber(canCall);
const subscribeOtherTab = createSubscriber(otherTabCall);

/** Call of this tab: ringing, dialled or accepted here. */
export const useCurrentCall = (): CallView | undefined => useSyncExternalStore(subscribeCall, currentCall.get);

/** Whether the call screen covers everything else. */
export const isCallScreenOpen = (): boolean => {
  const view = currentCall.get();
  return view !== undefined && view.state.phase !== "ended" && !view.isMinimized;
};

export const useIsCallScreenOpen = (): boolean => useSyncExternalStore(subscribeCall, isCallScreenOpen);

/** Whether this browser is in no call, so that one can be started. */
export const useCanCall = (): boolean => useSyncExternalStore(subscribeCanCall, canCall.get);

/** Call of this browser that belongs to another tab. */
export const useOtherTabCall = (): OtherTabCall | undefined =>
  useSyncExternalStore(subscribeOtherTab, otherTabCall.get);
