import type { Call } from "#contract/calls/call.ts";
import { Observable } from "#lib/browser/observable.ts";
import { activeEngine, type SyncEngine } from "#sync/engine.ts";
import type { TabCallController } from "./controller/call-controller.ts";
import type { OtherTabCall } from "./controller/other-tab-call.ts";
import type { CallNotice, CallView } from "./views.ts";

/*
 * All of calls that is loaded at first: it listens whether somebody rings, and fetches the rest then, or when the
 * person calls somebody.
 */

/** The call of this tab, while there is one to be seen here. */
export const currentCall = new Observable<CallView | undefined>(undefined);
/**
 * Whether a call may be begun: this browser is in none. Whether this person is in one on another device, which may have
 * died, the server knows.
 */
export const canCall = new Observable(true);
/** Whether this browser is in a call, begun or accepted in whichever of its tabs: the microphone is that call's. */
export const inCall = new Observable(false);
/** That call, where another tab has it. */
export const otherTabCall = new Observable<OtherTabCall | undefined>(undefined);

const noticeListeners = new Set<(saying: CallNotice) => void>();
export const publishCallNotice = (saying: CallNotice): void => {
  for (const listener of [...noticeListeners]) listener(saying);
};
/** What a person is told besides, in toasts. */
export const subscribeCallNotices = (listener: (saying: CallNotice) => void): (() => void) => {
  noticeListeners.add(listener);
  return () => {
    noticeListeners.delete(listener);
  };
};

let activeSync: SyncEngine | undefined;
let controllerLoading: Promise<TabCallController> | undefined;
let controller: TabCallController | undefined;
let unsubscribeFeed = () => {};

/** Before the controller is here, only a call this page had itself: no button may wait in vain for another device. */
const isOfThisBrowser = (call: Call): boolean => controller?.otherTab.isOfThisBrowser(call) ?? hasSavedCall();

const updateCallState = (): void => {
  if (!activeSync) return;
  const { userId, tab } = activeSync;
  const open = tab.calls.activeCalls.get();
  canCall.set(
    (!currentCall.get() || currentCall.get()?.state.at === "ended") &&
      !open.some((call) => (call.from === userId || call.answered_at !== null) && isOfThisBrowser(call)),
  );
  inCall.set(controller?.isInCall === true);
  otherTabCall.set(controller?.otherTab.view);
  // A call is under way, or was when this page was loaded anew.
  if (open.length > 0 || hasSavedCall()) void loadCallController().catch(() => undefined);
};

const showCall = (view: CallView | undefined): void => {
  currentCall.set(view);
  updateCallState();
};

const hasSavedCall = (): boolean => {
  try {
    return sessionStorage.getItem("call") !== null;
  } catch {
    return false; // forbidden
  }
};

/** The controller of calls of whoever is signed in; rejects where it cannot be fetched. */
export const loadCallController = async (): Promise<TabCallController> => {
  const of = activeSync;
  if (!of) throw new Error("nobody is signed in");
  controllerLoading ??= import("./controller/start.ts").then(({ openCallController: openEngine }) => {
    if (activeSync !== of) throw new Error("signed out meanwhile");
    return openEngine(of, { showCall, showNotice: publishCallNotice });
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

/** Whether this browser is in a call, in this tab or another. */
export const isBrowserInCall = async (): Promise<boolean> =>
  (await controllerLoading?.catch(() => undefined))?.isInCall === true;

/** The call that is there ends, as far as this browser has it; resolves when the server knows, or could not be told. */
export const endCalls = async (): Promise<void> => {
  await (await controllerLoading?.catch(() => undefined))?.endCalls();
};

const followSync = (): void => {
  if (activeEngine.get() === activeSync) return;
  unsubscribeFeed();
  void controllerLoading?.then((before) => before.stop()).catch(() => undefined);
  controllerLoading = undefined;
  controller = undefined;
  inCall.set(false);
  otherTabCall.set(undefined);
  activeSync = activeEngine.get();
  if (!activeSync) return;
  unsubscribeFeed = activeSync.tab.calls.activeCalls.subscribe(updateCallState);
  updateCallState();
};

let isWatching = false;
/** From the first who looks at calls on, for as long as the page lives. */
export const watchCalls = (): void => {
  if (isWatching) return;
  isWatching = true;
  activeEngine.subscribe(followSync);
  followSync();
};
