import { useSyncExternalStore } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import type { Call, CallKind } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { Observable } from "#lib/browser/observable.ts";
import { currentEngine, type SyncEngine } from "#sync/engine/engine.ts";
import type { TabCallController } from "./controller/call-controller.ts";
import type { OtherTabCall } from "./controller/other-tab-call.ts";
import type { CallNotice, CallView } from "./views.ts";

/*
 * The part of the call code that is loaded at startup: it observes incoming calls and loads the call controller when
 * one rings or when the person calls somebody.
 */

/** Call shown in this tab. */
export const currentCall = new Observable<CallView | undefined>(undefined);
/**
 * Whether a call can be started: this browser is in no call. A call on another device of the person is checked by the
 * server only, because that device may have died.
 */
const canCall = new Observable(true);
/** Whether this browser is in a call, in any of its tabs, and the microphone is therefore in use. */
export const inCall = new Observable(false);
/** Call of this browser that belongs to another tab. */
const otherTabCall = new Observable<OtherTabCall | undefined>(undefined);

const noticeListeners = new Set<(notice: CallNotice) => void>();
/** Notices from before the first listener was loaded. */
const unheardNotices: CallNotice[] = [];
const publishCallNotice = (notice: CallNotice): void => {
  if (noticeListeners.size === 0) unheardNotices.push(notice);
  for (const listener of [...noticeListeners]) listener(notice);
};
/** Subscribes to call notices, which are shown as toasts. The first listener also hears the earlier ones. */
export const subscribeCallNotices = (listener: (notice: CallNotice) => void): (() => void) => {
  noticeListeners.add(listener);
  for (const notice of unheardNotices.splice(0)) listener(notice);
  return () => {
    noticeListeners.delete(listener);
  };
};

let observedEngine: SyncEngine | undefined;
let controllerLoading: Promise<TabCallController> | undefined;
let controller: TabCallController | undefined;
let unsubscribeFeed = () => {};

/**
 * Whether the call belongs to this browser. Before the controller is loaded only a saved call counts, so that a call on
 * another device does not disable the buttons.
 */
const isOfThisBrowser = (call: Call): boolean => controller?.otherTab.isOfThisBrowser(call) ?? hasSavedCall();

const updateCallState = (): void => {
  if (!observedEngine) return;
  const { userId, client } = observedEngine;
  const activeCalls = client.calls.activeCalls.get();
  canCall.set(
    (!currentCall.get() || currentCall.get()?.state.phase === "ended") &&
      !activeCalls.some((call) => (call.from === userId || call.answered_at !== null) && isOfThisBrowser(call)),
  );
  inCall.set(controller?.isInCall === true);
  otherTabCall.set(controller?.otherTab.view);
  // A call is active, or was when this page was reloaded.
  if (activeCalls.length > 0 || hasSavedCall()) void loadCallController().catch(() => undefined);
};

const showCall = (view: CallView | undefined): void => {
  currentCall.set(view);
  updateCallState();
};

const hasSavedCall = (): boolean => {
  try {
    return sessionStorage.getItem("call") !== null;
  } catch {
    return false; // storage is forbidden
  }
};

/** Loads the call controller of the signed-in person. Rejects if it cannot be loaded. */
export const loadCallController = async (): Promise<TabCallController> => {
  const engine = observedEngine;
  if (!engine) throw new Error("nobody is signed in");
  controllerLoading ??= import("./controller/start.ts").then(({ openCallController }) => {
    if (observedEngine !== engine) throw new Error("signed out meanwhile");
    return openCallController(engine, { showCall, showNotice: publishCallNotice });
  });
  const loading = controllerLoading;
  loading.then(
    (loaded) => {
      if (controllerLoading !== loading || controller) return;
      controller = loaded;
      updateCallState();
    },
    () => {
      if (controllerLoading === loading) controllerLoading = undefined;
    },
  );
  return loading;
};

/** Whether this browser is in a call, in any of its tabs. Waits for the call controller while it is being loaded. */
export const isBrowserInCall = async (): Promise<boolean> =>
  (await controllerLoading?.catch(() => undefined))?.isInCall === true;

/** Ends the call of this browser. Resolves when the server knows, or after a timeout. */
export const endCalls = async (): Promise<void> => {
  await (await controllerLoading?.catch(() => undefined))?.endCalls();
};

const followEngine = (): void => {
  if (currentEngine.get() === observedEngine) return;
  unsubscribeFeed();
  void controllerLoading?.then((previous) => previous.stop()).catch(() => undefined);
  controllerLoading = undefined;
  controller = undefined;
  inCall.set(false);
  otherTabCall.set(undefined);
  observedEngine = currentEngine.get();
  if (!observedEngine) return;
  unsubscribeFeed = observedEngine.client.calls.activeCalls.subscribe(updateCallState);
  updateCallState();
};

let isWatching = false;
/** Starts observing calls; called by the first observer and active as long as the page lives. */
const watchCalls = (): void => {
  if (isWatching) return;
  isWatching = true;
  currentEngine.subscribe(followEngine);
  followEngine();
};

/** Calls the other person of a private conversation. A failure is shown as a notice. */
export const dialCall = async (to: { conversation: ConversationId; peer: Uuid; kind: CallKind }): Promise<void> => {
  watchCalls();
  const loaded = await loadOrShowToast(loadCallController);
  loaded?.dial(to);
};

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
