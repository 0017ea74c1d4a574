import type { Page } from "@playwright/test";

type Kind = "audio" | "video";

declare global {
  interface Window {
    /** Device access of the page: what it opened and what is refused from now on. */
    devices: {
      /** Error name for each refused kind. */
      refused: Partial<Record<Kind, string>>;
      unplug(kind: Kind): void;
      plugIn(kind: Kind): void;
      /** Audio outputs that are not connected. */
      absentOutputs: Set<string>;
      /** Reports that a device came or went. */
      tellChange(): void;
      /** Ids of the open devices of this kind. */
      open(kind: Kind): (string | undefined)[];
      /** Number of held screen wake locks. */
      wakeLocks(): number;
      /** Hides the page for a moment. Like the browser, reports twice at once that it is visible again. */
      hideForAMoment(): Promise<void>;
      /** Handlers of the system's media controls, by action name. */
      actions: Partial<Record<string, () => void>>;
      trembled: VibratePattern[];
    };
  }
}

const installDeviceProbe = () => {
  const { mediaDevices: media, wakeLock, mediaSession: session } = navigator;
  const refused: Window["devices"]["refused"] = {};
  const tracks: MediaStreamTrack[] = [];
  const locks: WakeLockSentinel[] = [];
  const actions: Window["devices"]["actions"] = {};
  const trembled: VibratePattern[] = [];
  const live = (kind: Kind) => tracks.filter((track) => track.kind === kind && track.readyState === "live");
  const tellChange = () => media.dispatchEvent(new Event("devicechange"));
  const absentOutputs = new Set<string>();
  const list = media.enumerateDevices.bind(media);
  media.enumerateDevices = async () => (await list()).filter(({ deviceId }) => !absentOutputs.has(deviceId));

  const open = media.getUserMedia.bind(media);
  media.getUserMedia = async (wanted) => {
    for (const kind of ["audio", "video"] as const) {
      if (wanted?.[kind] && refused[kind]) throw new DOMException("no", refused[kind]);
    }
    const stream = await open(wanted);
    tracks.push(...stream.getTracks());
    return stream;
  };
  const keepAwake = wakeLock.request.bind(wakeLock);
  wakeLock.request = async (type) => {
    const lock = await keepAwake(type);
    locks.push(lock);
    return lock;
  };
  const offer = session.setActionHandler.bind(session);
  session.setActionHandler = (action, handler) => {
    offer(action, handler);
    if (handler) actions[action] = () => handler({ action });
    else delete actions[action];
  };
  navigator.vibrate = (pattern: Iterable<number> | VibratePattern) => trembled.push(pattern as VibratePattern) > 0;

  window.devices = {
    refused,
    absentOutputs,
    tellChange,
    actions,
    trembled,
    unplug: (kind) => {
      refused[kind] = "NotFoundError";
      for (const track of live(kind)) {
        track.stop();
        track.dispatchEvent(new Event("ended"));
      }
      tellChange();
    },
    plugIn: (kind) => {
      delete refused[kind];
      tellChange();
    },
    open: (kind) => live(kind).map((track) => track.getSettings().deviceId),
    wakeLocks: () => locks.filter(({ released }) => !released).length,
    hideForAMoment: async () => {
      for (const lock of locks) await lock.release();
      for (let turn = 0; turn < 2; turn++) document.dispatchEvent(new Event("visibilitychange"));
    },
  };
};

const saveData = () => {
  Object.defineProperty(Object.getPrototypeOf(Reflect.get(navigator, "connection")), "saveData", { get: () => true });
};

/** Instruments this page and all later loads of it. `isSaving` also turns on the data saver. */
export const instrumentDevices = async (page: Page, isSaving = false): Promise<void> => {
  await page.addInitScript(installDeviceProbe);
  if (isSaving) await page.addInitScript(saveData);
};
