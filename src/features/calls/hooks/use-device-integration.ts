import { useEffect } from "react";
import { hangUpCall, setCameraOn, setMuted, setRemoteVideoVisible } from "#calls/actions.ts";
import type { CallView } from "#calls/views.ts";

/** The screen stays on while a call is up: many phones silence the microphone with it. */
export const useWakeLock = (isNeeded: boolean): void => {
  useEffect(() => {
    if (!isNeeded || !("wakeLock" in navigator)) return;
    let lock: WakeLockSentinel | undefined;
    let isAsking = false;
    let isOver = false;
    // The browser takes it back whenever the page is hidden.
    const take = async () => {
      if (document.visibilityState !== "visible" || isOver || isAsking || lock?.released === false) return;
      isAsking = true;
      try {
        lock = await navigator.wakeLock.request("screen");
        if (isOver) void lock.release();
      } catch {
        // Refused, for want of battery: the call goes on.
      }
      isAsking = false;
    };
    void take();
    document.addEventListener("visibilitychange", take);
    return () => {
      isOver = true;
      document.removeEventListener("visibilitychange", take);
      void lock?.release();
    };
  }, [isNeeded]);
};

/**
 * The media know whether the other side's picture is looked at: on the page, while the page is, or `always`. New media come
 * with the state.
 */
export const useRemoteVideoVisibility = (at: CallView["state"]["at"], where: "page" | "always" | "nowhere"): void => {
  useEffect(() => {
    if (at === "ended") return;
    const tell = () =>
      setRemoteVideoVisible(where === "always" || (where === "page" && document.visibilityState === "visible"));
    tell();
    document.addEventListener("visibilitychange", tell);
    return () => document.removeEventListener("visibilitychange", tell);
  }, [at, where]);
};

type MediaSessionAction = "hangup" | "togglemicrophone" | "togglecamera";
type CallMediaControls = {
  metadata: MediaMetadata | null;
  setActionHandler(action: MediaSessionAction, handler: (() => void) | null): void;
  setMicrophoneActive?: (isActive: boolean) => void;
  setCameraActive?: (isActive: boolean) => void;
};

/** The browser's own controls of a call, where it has some: beside the picture in picture, on a headset. */
export const useMediaSession = ({ state, media }: CallView, name: string): void => {
  const isUp = state.at === "connecting" || state.at === "connected";
  const isVideo = state.call.kind === "video";
  const isMuted = media.mic === "muted";
  const isFilmed = ["on", "lowBandwidth", "unwanted"].includes(media.camera);
  useEffect(() => {
    const session = (navigator as unknown as { mediaSession?: CallMediaControls }).mediaSession;
    if (!isUp || !session) return;
    const handle = (action: MediaSessionAction, handler: (() => void) | null) => {
      try {
        session.setActionHandler(action, handler);
      } catch {
        // An action this browser does not know.
      }
    };
    if ("MediaMetadata" in globalThis) session.metadata = new MediaMetadata({ title: name, artist: "Lisolo" });
    session.setMicrophoneActive?.(!isMuted);
    handle("hangup", hangUpCall);
    handle("togglemicrophone", () => setMuted(!isMuted));
    if (isVideo) {
      session.setCameraActive?.(isFilmed);
      handle("togglecamera", () => setCameraOn(!isFilmed));
    }
    return () => {
      session.metadata = null;
      for (const action of ["hangup", "togglemicrophone", "togglecamera"] as const) handle(action, null);
    };
  }, [isUp, isVideo, isMuted, isFilmed, name]);
};

const titleIntervalMs = 1_000;

/** While it rings the document's name says so every other second: a tab behind others is found by it. */
export const useTitleHint = (hint: string | undefined): void => {
  useEffect(() => {
    if (hint === undefined) return;
    let own = document.title;
    const turn = () => {
      if (document.title === hint) document.title = own;
      else {
        own = document.title;
        document.title = hint;
      }
    };
    turn();
    const timer = setInterval(turn, titleIntervalMs);
    return () => {
      clearInterval(timer);
      if (document.title === hint) document.title = own;
    };
  }, [hint]);
};
