import type { CallKind } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { loadEngine, say, watchCalls } from "./call-state.ts";
import type { CallEngine } from "./controller/call-controller.ts";
import type { ChosenDevices } from "./media/media-preferences.ts";

export { endCalls, isInCall, subscribeCallSayings } from "./call-state.ts";

/** What is done with the call of this tab; where there is none, nothing. */
const act =
  <A extends readonly unknown[]>(run: (engine: CallEngine, ...values: A) => void) =>
  (...values: A): void => {
    loadEngine().then(
      (engine) => run(engine, ...values),
      () => undefined, // where it could not be fetched there is no call
    );
  };

/** Calls the other person of a private conversation. What hinders it is told by a saying. */
export const dial = (to: { conversation: ConversationId; peer: Uuid; kind: CallKind }): void => {
  watchCalls();
  loadEngine().then(
    (engine) => engine.dial(to),
    () => say({ notice: "failed", error: "offline", peer: to.peer }),
  );
};
export const acceptCall = act((engine) => engine.act({ type: "accept" }));
export const rejectCall = act((engine) => engine.act({ type: "reject" }));
export const hangUp = act((engine) => engine.act({ type: "hangUp" }));
/** The call of this browser's other tab ends. */
export const hangUpOtherTab = act((engine) => engine.otherTab.hangUp());
/** The call of a tab that is gone goes on in this one. */
export const resumeCall = act((engine) => engine.otherTab.resume());
/** The screen of an ended call goes. */
export const leaveEnded = act((engine) => engine.act({ type: "leave" }));
export const setMuted = act((engine, isMuted: boolean) => engine.choose({ isMuted }));
export const setCamera = act((engine, isCameraOn: boolean) => engine.choose({ isCameraOn }));
/** Whether pictures are wanted: without them one's own camera rests too. */
export const setPictures = act((engine, takesPictures: boolean) => engine.choose({ takesPictures }));
/** Whether the other side's picture is before this person's eyes. */
export const setSeen = act((engine, isSeen: boolean) => engine.media?.setSeen(isSeen));
/** Another microphone or camera, or where the other side is heard. */
export const chooseDevice = act((engine, device: keyof ChosenDevices, id: string) => engine.choose({ device, id }));
/** The call's screen is put away, the call goes on. */
export const minimise = act((engine) => engine.setMinimised(true));
export const restore = act((engine) => engine.setMinimised(false));
