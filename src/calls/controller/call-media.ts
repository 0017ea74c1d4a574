import type { CallEnvironment } from "#calls/environment.ts";
import {
  applyPreferenceChange,
  createDefaultPreferences,
  type MediaPreferenceChange,
  type MediaPreferences,
  silentPreferences,
} from "#calls/media/media-preferences.ts";
import type { CallMediaSession, MediaEvents, MediaView } from "#calls/media/media-session.ts";
import type { CallSyncPort } from "#calls/sync-port.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { IceServers } from "#contract/calls/ice.ts";
import type { CallEffect, LocalCall } from "#contract/calls/local-call.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { CallStatePort } from "./call-state-port.ts";
import type { SavedCall } from "./saved-call.ts";

const initialView: MediaView = {
  mic: "waiting",
  camera: "off",
  local: undefined,
  remote: undefined,
  isVideoRestored: false,
  isVoiceOnly: false,
  peer: { isMuted: false, hasMic: true, hasVideo: false, isCameraOff: false, isVoiceOnly: false },
  quality: 0,
  bytes: 0,
  isMicInaudible: false,
};

/** Data use is recorded each time it has grown by this much, so a killed tab loses at most this much of the count. */
const dataUseStepBytes = 200_000;

/** Media of this tab's call: created on first use and stopped with the call. */
export class CallMedia {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #environment: Pick<CallEnvironment, "createMedia" | "isDataSaver" | "recordDataUse">;
  readonly #port: CallStatePort;
  #session: CallMediaSession | undefined;
  #view = initialView;
  #startedDevice: DeviceId | undefined;
  /** Data use and preferences of this call before its page was reloaded. */
  #savedCall: SavedCall | undefined;
  /** Preferences of the current call. They can exist before the media session, while several tabs ring. */
  #preferences: MediaPreferences | undefined;
  /** Bytes recorded so far. They are recorded during the call, because the tab may be closed before it ends. */
  #reportedBytes = 0;
  /** Incremented with every call, so that events of an earlier session are ignored. */
  #generation = 0;

  constructor(
    sync: CallSyncPort,
    deviceId: DeviceId,
    environment: Pick<CallEnvironment, "createMedia" | "isDataSaver" | "recordDataUse">,
    port: CallStatePort,
  ) {
    this.#sync = sync;
    this.#deviceId = deviceId;
    this.#environment = environment;
    this.#port = port;
  }

  get session(): CallMediaSession | undefined {
    return this.#session;
  }

  get view(): MediaView {
    return this.#view;
  }

  /** Discards the view of the previous call. */
  resetView(): void {
    if (!this.#session) this.#view = initialView;
  }

  /** Continues the counters and preferences of a saved call. */
  restore(saved: SavedCall): void {
    this.#savedCall = saved;
    this.#environment.recordDataUse(saved.id, saved.bytes); // in case the call cannot be resumed
  }

  get preferences(): MediaPreferences {
    return this.#preferences ?? silentPreferences;
  }

  /** Changes a preference. It is saved before it is applied, so that it survives a reload at this moment. */
  changePreference(change: MediaPreferenceChange, call: LocalCall, save: () => void): void {
    const before = this.#preferences ?? this.#getInitialPreferences(call);
    const after = applyPreferenceChange(before, change);
    this.#preferences = after;
    save();
    const session = this.#session;
    if (!session) return;
    if ("isMuted" in change) session.setMuted(change.isMuted);
    if ("device" in change && change.device !== "audiooutput") session.selectDevice(change.device, change.id);
    if ("takesPictures" in change) session.setRemoteVideoWanted(change.takesPictures);
    if ("isCameraOn" in change || after.isCameraOn !== before.isCameraOn) session.setCameraOn(after.isCameraOn);
  }

  #getInitialPreferences({ id, kind }: LocalCall): MediaPreferences {
    return this.#savedCall?.id === id ? this.#savedCall.choices : createDefaultPreferences(kind);
  }

  runEffect(
    media: Exclude<Extract<CallEffect, { type: "media" }>["media"], "stop">,
    call: LocalCall,
    serverCall: Call | undefined,
  ): void {
    const session = this.#session ?? this.#createSession(call);
    if (media === "open") session.openDevices();
    if (media !== "start") return;
    const device = call.isCaller ? serverCall?.to_device : serverCall?.from_device;
    if (!device || device === this.#startedDevice) return;
    this.#startedDevice = device;
    session.start(device);
  }

  stop({ id }: LocalCall, isHungUp: boolean): void {
    const session = this.#session;
    this.#preferences = undefined;
    if (!session) return;
    this.#generation++;
    this.#session = undefined;
    this.#startedDevice = undefined;
    this.#environment.recordDataUse(id, this.#view.bytes);
    // The ended screen still shows the data use.
    this.#view = { ...this.#view, local: undefined, remote: undefined };
    session.stop(isHungUp);
  }

  #createSession(call: LocalCall): CallMediaSession {
    const { me } = this.#sync;
    const generation = ++this.#generation;
    const { bytes } = this.#savedCall?.id === call.id ? this.#savedCall : initialView;
    this.#reportedBytes = bytes;
    const preferences = this.#preferences ?? this.#getInitialPreferences(call);
    this.#preferences = preferences;
    const camera = preferences.isCameraOn ? "waiting" : "off";
    this.#view = { ...initialView, bytes, camera, isVoiceOnly: !preferences.takesPictures };
    const session = this.#environment.createMedia(
      {
        preferences,
        isPolite: me > call.peer,
        deviceId: this.#deviceId,
        isCaller: call.isCaller,
        fetchIceServers: () => this.#fetchIceServers(),
        isDataSaver: this.#environment.isDataSaver(),
      },
      this.#createEvents(generation, bytes),
    );
    this.#session = session;
    session.prepare();
    return session;
  }

  #createEvents(generation: number, earlierBytes: number): MediaEvents {
    const isCurrent = () => generation === this.#generation;
    const step = (type: "audioReceived" | "failed") => () => {
      if (isCurrent()) this.#port.dispatch({ type });
    };
    return {
      audioReceived: step("audioReceived"),
      interrupted: (silentMs) => {
        if (isCurrent()) this.#port.dispatch({ type: "interrupted", at: this.#sync.platform.now() - silentMs });
      },
      failed: step("failed"),
      peerHungUp: () => {
        if (isCurrent()) this.#port.dispatch({ type: "peerHungUp" });
      },
      connectionSuspected: () => {
        if (isCurrent()) this.#sync.checkConnection();
      },
      viewChanged: (view) => {
        if (!isCurrent()) return;
        this.#view = { ...view, bytes: view.bytes + earlierBytes };
        this.#reportDataUse();
        this.#port.publishView();
      },
      sendSignal: (to, signal) => {
        const call = this.#port.findCall();
        if (!call || !isCurrent()) return;
        const { id, conversation } = call;
        // Lost signals are sent again by the reliable channel.
        this.#sync
          .request({ type: "signal", conversation, call: id, from: this.#deviceId, to, signal })
          .catch(() => undefined);
      },
    };
  }

  #reportDataUse(): void {
    const { bytes } = this.#view;
    const call = this.#port.findCall();
    if (!call || bytes < this.#reportedBytes + dataUseStepBytes) return;
    this.#reportedBytes = bytes;
    this.#environment.recordDataUse(call.id, bytes);
  }

  async #fetchIceServers(): Promise<IceServers> {
    await this.#port.waitUntilRegistered();
    const call = this.#port.findCall();
    if (!call) throw new SyncError("call_not_found");
    return this.#sync.fetchIceServers(call.id);
  }
}
