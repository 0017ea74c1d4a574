import type { Page } from "@playwright/test";

type Kind = "audio" | "video";

declare global {
  interface Window {
    /** What the page has taken of its device, and what it is refused from now on. */
    devices: {
      /** The name of the error by which each is refused. */
      refused: Partial<Record<Kind, string>>;
      unplug(kind: Kind): void;
      plugIn(kind: Kind): void;
      /** The ids of the devices of this kind that are open. */
      open(kind: Kind): (string | undefined)[];
      /** The screen's wake locks that are held. */
      wakeLocks(): number;
      /** As the browser does when a page is hidden for a moment; it says twice that it is seen again. */
      hideForAMoment(): Promise<void>;
      /** What is offered to the system's own controls, by the name of the action. */
      actions: Partial<Record<string, () => void>>;
      trembled: VibratePattern[];
    };
  }
}

/** A device has the same id in every page, as in a browser with windows; one without makes others for each page. */
const keepDeviceIds = () => {
  const media = navigator.mediaDevices;
  const list = media.enumerateDevices.bind(media);
  const idOf = ({ deviceId, kind, label }: Pick<MediaDeviceInfo, "deviceId" | "kind" | "label">) =>
    ["", "default", "communications"].includes(deviceId) ? deviceId : `${kind} ${label}`;
  const findId = async (kept: string) => (await list()).find((device) => idOf(device) === kept)?.deviceId ?? kept;
  media.enumerateDevices = async () =>
    (await list()).map((device) => ({ ...(device.toJSON() as MediaDeviceInfo), deviceId: idOf(device) }));

  const open = media.getUserMedia.bind(media);
  media.getUserMedia = async (wanted = {}) => {
    const found: MediaStreamConstraints = { ...wanted };
    for (const kind of ["audio", "video"] as const) {
      const one = wanted[kind];
      const id =
        typeof one === "object" ? (one.deviceId as ConstrainDOMStringParameters | undefined)?.exact : undefined;
      if (typeof one === "object" && typeof id === "string")
        found[kind] = { ...one, deviceId: { exact: await findId(id) } };
    }
    const stream = await open(found);
    for (const track of stream.getTracks()) {
      const { deviceId = "", ...settings } = track.getSettings();
      const kind = track.kind === "audio" ? "audioinput" : "videoinput";
      track.getSettings = () => ({ ...settings, deviceId: idOf({ deviceId, kind, label: track.label }) });
    }
    return stream;
  };

  const outputs = new WeakMap<HTMLMediaElement, string>();
  const route = HTMLMediaElement.prototype.setSinkId;
  HTMLMediaElement.prototype.setSinkId = async function (id) {
    await route.call(this, await findId(id));
    outputs.set(this, id);
  };
  Object.defineProperty(HTMLMediaElement.prototype, "sinkId", {
    get(this: HTMLMediaElement) {
      return outputs.get(this) ?? "";
    },
  });
};

const watchDevices = () => {
  const { mediaDevices: media, wakeLock, mediaSession: session } = navigator;
  const refused: Window["devices"]["refused"] = {};
  const tracks: MediaStreamTrack[] = [];
  const locks: WakeLockSentinel[] = [];
  const actions: Window["devices"]["actions"] = {};
  const trembled: VibratePattern[] = [];
  const live = (kind: Kind) => tracks.filter((track) => track.kind === kind && track.readyState === "live");
  const tellChange = () => media.dispatchEvent(new Event("devicechange"));

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
      for (let turn = 0; turn < 2; turn++) {
        document.dispatchEvent(new Event("visibilitychange"));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
};

const saveData = () => {
  Object.defineProperty(Object.getPrototypeOf(Reflect.get(navigator, "connection")), "saveData", { get: () => true });
};

/** What this page, and those loaded in it afterwards, take of their device is known; of one that saves data, too. */
export const watchDevicesOf = async (page: Page, isSaving = false): Promise<void> => {
  // A Chromium without windows keeps no screen on unless it is told to; what is not named here is refused then.
  await page.context().grantPermissions(["screen-wake-lock", "microphone", "camera"]);
  await page.addInitScript(keepDeviceIds);
  await page.addInitScript(watchDevices);
  if (isSaving) await page.addInitScript(saveData);
};
