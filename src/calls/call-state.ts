import type { Call } from "#contract/calls/call.ts";
import { Observable } from "#lib/browser/observable.ts";
import { running, type Sync } from "#sync/engine.ts";
import type { CallEngine } from "./controller/call-controller.ts";
import type { OtherTabCall } from "./controller/other-tab-call.ts";
import type { CallSaying, CallView } from "./views.ts";

/*
 * All of calls that is loaded at first: it listens whether somebody rings, and fetches the rest then, or when the
 * person calls somebody.
 */

/** The call of this tab, while there is one to be seen here. */
export const callNow = new Observable<CallView | undefined>(undefined);
/**
 * Whether a call may be begun: this browser is in none. Whether this person is in one on another device, which may have
 * died, the server knows.
 */
export const canCall = new Observable(true);
/** Whether this browser is in a call, begun or accepted in whichever of its tabs: the microphone is that call's. */
export const inCall = new Observable(false);
/** That call, where another tab has it. */
export const inOtherTab = new Observable<OtherTabCall | undefined>(undefined);

const listeners = new Set<(saying: CallSaying) => void>();
export const say = (saying: CallSaying): void => {
  for (const listener of [...listeners]) listener(saying);
};
/** What a person is told besides, in toasts. */
export const subscribeCallSayings = (listener: (saying: CallSaying) => void): (() => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

let sync: Sync | undefined;
let engine: Promise<CallEngine> | undefined;
let opened: CallEngine | undefined;
let unsubscribe = () => {};

/** Before the controller is here, only a call this page had itself: no button may wait in vain for another device. */
const isHere = (call: Call): boolean => opened?.otherTab.isOfThisBrowser(call) ?? hasKeptCall();

const look = (): void => {
  if (!sync) return;
  const { userId, tab } = sync;
  const open = tab.calls.open.get();
  canCall.set(
    (!callNow.get() || callNow.get()?.state.at === "ended") &&
      !open.some((call) => (call.from === userId || call.answered_at !== null) && isHere(call)),
  );
  inCall.set(opened?.isInCall === true);
  inOtherTab.set(opened?.otherTab.view);
  // A call is under way, or was when this page was loaded anew.
  if (open.length > 0 || hasKeptCall()) void loadEngine().catch(() => undefined);
};

const show = (view: CallView | undefined): void => {
  callNow.set(view);
  look();
};

const hasKeptCall = (): boolean => {
  try {
    return sessionStorage.getItem("call") !== null;
  } catch {
    return false; // forbidden
  }
};

/** The controller of calls of whoever is signed in; rejects where it cannot be fetched. */
export const loadEngine = async (): Promise<CallEngine> => {
  const of = sync;
  if (!of) throw new Error("nobody is signed in");
  engine ??= import("./controller/start.ts").then(({ openEngine }) => {
    if (sync !== of) throw new Error("signed out meanwhile");
    return openEngine(of, { show, say });
  });
  const loading = engine;
  loading.then(
    (loaded) => {
      if (engine !== loading || opened) return;
      opened = loaded;
      look();
    },
    () => {
      if (engine === loading) engine = undefined;
    },
  );
  return loading;
};

/** Whether this browser is in a call, in this tab or another. */
export const isInCall = async (): Promise<boolean> => (await engine?.catch(() => undefined))?.isInCall === true;

/** The call that is there ends, as far as this browser has it; resolves when the server knows, or could not be told. */
export const endCalls = async (): Promise<void> => {
  await (await engine?.catch(() => undefined))?.end();
};

const follow = (): void => {
  if (running.get() === sync) return;
  unsubscribe();
  void engine?.then((before) => before.stop()).catch(() => undefined);
  engine = undefined;
  opened = undefined;
  inCall.set(false);
  inOtherTab.set(undefined);
  sync = running.get();
  if (!sync) return;
  unsubscribe = sync.tab.calls.open.subscribe(look);
  look();
};

let isWatching = false;
/** From the first who looks at calls on, for as long as the page lives. */
export const watchCalls = (): void => {
  if (isWatching) return;
  isWatching = true;
  running.subscribe(follow);
  follow();
};
