import { useSyncExternalStore } from "react";
import type { Observable } from "#lib/browser/observable.ts";
import { callNow, canCall, inOtherTab, watchCalls } from "./call-state.ts";
import type { OtherTabCall } from "./controller/other-tab-call.ts";
import type { CallView } from "./views.ts";

/** Looking at calls is what makes this tab listen for them. */
const subscriber =
  <T>({ subscribe }: Observable<T>) =>
  (listener: () => void) => {
    watchCalls();
    return subscribe(listener);
  };
const subscribeCall = subscriber(callNow);
const subscribeCan = subscriber(canCall);
const subscribeOther = subscriber(inOtherTab);

/** The call of this tab: one that rings, or one that was begun or accepted here. */
export const useCall = (): CallView | undefined => useSyncExternalStore(subscribeCall, callNow.get);

/** Whether a call's screen is before everything else: what is below it is seen by nobody. */
export const isCallBefore = (): boolean => {
  const view = callNow.get();
  return view !== undefined && view.state.at !== "ended" && !view.isMinimised;
};

export const useIsCallBefore = (): boolean => useSyncExternalStore(subscribeCall, isCallBefore);

/** Whether this browser is in no call, so that one can be begun. */
export const useCanCall = (): boolean => useSyncExternalStore(subscribeCan, canCall.get);

/** The call this browser is in, where another tab has it. */
export const useOtherTabCall = (): OtherTabCall | undefined => useSyncExternalStore(subscribeOther, inOtherTab.get);
