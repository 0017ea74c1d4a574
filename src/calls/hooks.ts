import { useSyncExternalStore } from "react";
import type { Observable } from "#lib/browser/observable.ts";
import { canCall, currentCall, otherTabCall, watchCalls } from "./call-state.ts";
import type { OtherTabCall } from "./controller/other-tab-call.ts";
import type { CallView } from "./views.ts";

/** Looking at calls is what makes this tab listen for them. */
const createSubscriber =
  <T>({ subscribe }: Observable<T>) =>
  (listener: () => void) => {
    watchCalls();
    return subscribe(listener);
  };
const subscribeCall = createSubscriber(currentCall);
const subscribeCanCall = createSubscriber(canCall);
const subscribeOtherTab = createSubscriber(otherTabCall);

/** The call of this tab: one that rings, or one that was begun or accepted here. */
export const useCurrentCall = (): CallView | undefined => useSyncExternalStore(subscribeCall, currentCall.get);

/** Whether a call's screen is before everything else: what is below it is seen by nobody. */
export const isCallScreenOpen = (): boolean => {
  const view = currentCall.get();
  return view !== undefined && view.state.at !== "ended" && !view.isMinimized;
};

export const useIsCallScreenOpen = (): boolean => useSyncExternalStore(subscribeCall, isCallScreenOpen);

/** Whether this browser is in no call, so that one can be begun. */
export const useCanCall = (): boolean => useSyncExternalStore(subscribeCanCall, canCall.get);

/** The call this browser is in, where another tab has it. */
export const useOtherTabCall = (): OtherTabCall | undefined =>
  useSyncExternalStore(subscribeOtherTab, otherTabCall.get);
