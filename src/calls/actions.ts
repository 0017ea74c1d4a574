import type { CallKind } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { loadCallController, publishCallNotice, watchCalls } from "./call-state.ts";
import type { TabCallController } from "./controller/call-controller.ts";
import type { SelectedDevices } from "./media/media-preferences.ts";

export { endCalls, isBrowserInCall, subscribeCallNotices } from "./call-state.ts";

/** What is done with the call of this tab; where there is none, nothing. */
const withController =
  <A extends readonly unknown[]>(run: (engine: TabCallController, ...values: A) => void) =>
  (...values: A): void => {
    loadCallController().then(
      (engine) => run(engine, ...values),
      () => undefined, // where it could not be fetched there is no call
    );
  };

/** Calls the other person of a private conversation. What hinders it is told by a saying. */
export const dialCall = (to: { conversation: ConversationId; peer: Uuid; kind: CallKind }): void => {
  watchCalls();
  loadCallController().then(
    (engine) => engine.dial(to),
    () => publishCallNotice({ notice: "failed", error: "offline", peer: to.peer }),
  );
};
export const acceptCall = withController((engine) => engine.handleUserAction({ type: "accept" }));
export const rejectCall = withController((engine) => engine.handleUserAction({ type: "reject" }));
export const hangUpCall = withController((engine) => engine.handleUserAction({ type: "hangUp" }));
/** The call of this browser's other tab ends. */
export const hangUpOtherTabCall = withController((engine) => engine.otherTab.hangUp());
/** The call of a tab that is gone goes on in this one. */
export const resumeOtherTabCall = withController((engine) => engine.otherTab.resume());
/** The screen of an ended call goes. */
export const dismissEndedCall = withController((engine) => engine.handleUserAction({ type: "dismiss" }));
export const setMuted = withController((engine, isMuted: boolean) => engine.changePreference({ isMuted }));
export const setCameraOn = withController((engine, isCameraOn: boolean) => engine.changePreference({ isCameraOn }));
/** Whether pictures are wanted: without them one's own camera rests too. */
export const setRemoteVideoWanted = withController((engine, takesPictures: boolean) =>
  engine.changePreference({ takesPictures }),
);
/** Whether the other side's picture is before this person's eyes. */
export const setRemoteVideoVisible = withController((engine, isSeen: boolean) =>
  engine.media?.setRemoteVideoVisible(isSeen),
);
/** Another microphone or camera, or where the other side is heard. */
export const selectDevice = withController((engine, device: keyof SelectedDevices, id: string) =>
  engine.changePreference({ device, id }),
);
/** The call's screen is put away, the call goes on. */
export const minimizeCall = withController((engine) => engine.setMinimized(true));
export const restoreCall = withController((engine) => engine.setMinimized(false));
