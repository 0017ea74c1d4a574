import { useEffect } from "react";
import { hangUpCall, setCameraOn, setMuted, setRemoteVideoVisible } from "#calls/actions.ts";
import type { CallView } from "#calls/views.ts";

/** Keeps the screen on during a call: many phones silence the microphone when the screen turns off. */
export const useWakeLock = (isNeeded: boolean): void => {
  useEffect(() => {
    if (!isNeeded || !("wakeLock" in navigator)) return;
    let lock: WakeLockSentinel | undefined;
    let isRequesting = false;
    let isReleased = false;
    // The browser releases the lock whenever the page is hidden.
    const acquire = async () => {
      if (document.visibilityState !== "visible" || isReleased || isRequesting || lock?.released === false) return;
      isRequesting = true;
      try {
        lock = await navigator.wakeLock.request("screen");
        if (isReleased) void lock.release();
      } catch {
        // Refused, for example at low battery; the call continues.
      }
      isRequesting = false;
    };
    void acquire();
    document.addEventListener("visibilitychange", acquire);
    return () => {
      isReleased = true;
      document.removeEventListener("visibilitychange", acquire);
      void lock?.release();
    };
  }, [isNeeded]);
};

/**
 * Reports to the media session whether the remote video is visible: on the page while the page is visible, or always. A
 * new media session comes with a new state.
 */
export const useRemoteVideoVisibility = (
  phase: CallView["state"]["phase"],
  where: "page" | "always" | "nowhere",
): void => {
  useEffect(() => {
    if (phase === "ended") return;
    const report = () =>
      setRemoteVideoVisible(where === "always" || (where === "page" && document.visibilityState === "visible"));
    report();
    document.addEventListener("visibilitychange", report);
    return () => document.removeEventListener("visibilitychange", report);
  }, [phase, where]);
};

type MediaSessionAction = "hangup" | "togglemicrophone" | "togglecamera";
type CallMediaControls = {
  metadata: MediaMetadata | null;
  setActionHandler(action: MediaSessionAction, handler: (() => void) | null): void;
  setMicrophoneActive?: (isActive: boolean) => void;
  setCameraActive?: (isActive: boolean) => void;
};

/** Connects the browser's call controls, where it has some, such as in picture-in-picture or on a headset. */
export const useMediaSession = ({ state, media }: CallView, name: string): void => {
  const isUp = state.phase === "connecting" || state.phase === "connected";
  const isVideo = state.call.kind === "video";
  const isMuted = media.mic === "muted";
  const isCameraOn = ["on", "lowBandwidth", "unwanted"].includes(media.camera);
  useEffect(() => {
    const session = (navigator as unknown as { mediaSession?: CallMediaControls }).mediaSession;
    if (!isUp || !session) return;
    const handle = (action: MediaSessionAction, handler: (() => void) | null) => {
      try {
        session.setActionHandler(action, handler);
      } catch {
        // This browser does not know the action.
      }
    };
    if ("MediaMetadata" in globalThis) session.metadata = new MediaMetadata({ title: name, artist: "Lisolo" });
    session.setMicrophoneActive?.(!isMuted);
    handle("hangup", hangUpCall);
    handle("togglemicrophone", () => setMuted(!isMuted));
    if (isVideo) {
      session.setCameraActive?.(isCameraOn);
      handle("togglecamera", () => setCameraOn(!isCameraOn));
    }
    return () => {
      session.metadata = null;
      for (const action of ["hangup", "togglemicrophone", "togglecamera"] as const) handle(action, null);
    };
  }, [isUp, isVideo, isMuted, isCameraOn, name]);
};

const titleIntervalMs = 1_000;

/** While a call rings, alternates the document title with a hint, so that a background tab is found. */
export const useTitleHint = (hint: string | undefined): void => {
  useEffect(() => {
    if (hint === undefined) return;
    let ownTitle = document.title;
    const toggleTitle = () => {
      if (document.title === hint) document.title = ownTitle;
      else {
        ownTitle = document.title;
        document.title = hint;
      }
    };
    toggleTitle();
    const timer = setInterval(toggleTitle, titleIntervalMs);
    return () => {
      clearInterval(timer);
      if (document.title === hint) document.title = ownTitle;
    };
  }, [hint]);
};
