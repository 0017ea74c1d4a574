import { loadCallController } from "./call-state.ts";
import type { TabCallController } from "./controller/call-controller.ts";
import type { SelectedDevices } from "./media/media-preferences.ts";

/** Creates an action on the call controller. Without a controller there is no call, and the action does nothing. */
const withController =
  <A extends readonly unknown[]>(run: (controller: TabCallController, ...values: A) => void) =>
  (...values: A): void => {
    loadCallController().then(
      (controller) => run(controller, ...values),
      () => undefined, // loading failed, so there is no call
    );
  };

export const acceptCall = withController((controller) => controller.handleUserAction({ type: "accept" }));
export const rejectCall = withController((controller) => controller.handleUserAction({ type: "reject" }));
export const hangUpCall = withController((controller) => controller.handleUserAction({ type: "hangUp" }));
/** Ends the call of another tab of this browser. */
export const hangUpOtherTabCall = withController((controller) => controller.otherTab.hangUp());
/** Continues the call of a closed tab in this tab. */
export const resumeOtherTabCall = withController((controller) => controller.otherTab.resume());
/** Dismisses the screen of an ended call. */
export const dismissEndedCall = withController((controller) => controller.handleUserAction({ type: "dismiss" }));
export const setMuted = withController((controller, isMuted: boolean) => controller.changePreference({ isMuted }));
export const setCameraOn = withController((controller, isCameraOn: boolean) =>
  controller.changePreference({ isCameraOn }),
);
/** Sets whether remote video is wanted. Without it the own camera is off too. */
export const setRemoteVideoWanted = withController((controller, takesPictures: boolean) =>
  controller.changePreference({ takesPictures }),
);
/** Sets whether the remote video is visible to the person. */
export const setRemoteVideoVisible = withController((controller, isSeen: boolean) =>
  controller.media?.setRemoteVideoVisible(isSeen),
);
/** Selects a microphone, a camera or an audio output. */
export const selectDevice = withController((controller, device: keyof SelectedDevices, id: string) =>
  controller.changePreference({ device, id }),
);
/** Minimizes the call screen; the call continues. */
export const minimizeCall = withController((controller) => controller.setMinimized(true));
export const restoreCall = withController((controller) => controller.setMinimized(false));
