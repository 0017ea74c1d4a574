import type { CallSyncPort } from "#calls/link.ts";
import {
  applyPreferenceChange,
  createDefaultPreferences,
  type MediaPreferenceChange,
  type MediaPreferences,
  silentPreferences,
} from "#calls/media/media-preferences.ts";
import type { CallMediaSession, MediaEvents, MediaView } from "#calls/media/media-session.ts";
import type { CallEnvironment } from "#calls/world.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { CallEffect, CallEvent, LocalCall } from "#contract/calls/call-machine.ts";
import type { IceServers } from "#contract/calls/ice.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
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

/** So much a tab that is killed may leave uncounted. */
const dataUseStepBytes = 200_000;

type CallMediaPort = {
  step(event: CallEvent): void;
  changed(): void;
  /** The other side hung up, and said so itself. */
  left(): void;
  /** The call of this tab as it is now: of two that crossed, one is left. */
  call(): LocalCall | undefined;
  /** Once the server knows it. */
  known(): Promise<void>;
};

/** The media of this tab's call: made when they are first wanted, and gone with the call. */
export class CallMedia {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #environment: Pick<CallEnvironment, "createMedia" | "isDataSaver" | "recordDataUse">;
  readonly #port: CallMediaPort;
  #session: CallMediaSession | undefined;
  #view = initialView;
  #startedDevice: DeviceId | undefined;
  /** What this call took, and what was chosen in it, before its page was loaded anew. */
  #savedCall: SavedCall | undefined;
  /** What was chosen in the call of now: where several tabs ring, also before it has media. */
  #preferences: MediaPreferences | undefined;
  /** Bytes of it that were told, for this tab may be gone before it is over. */
  #reportedBytes = 0;
  /** Changes with every call: what an older one's media say is not heard. */
  #generation = 0;

  constructor(
    link: CallSyncPort,
    device: DeviceId,
    world: Pick<CallEnvironment, "createMedia" | "isDataSaver" | "recordDataUse">,
    host: CallMediaPort,
  ) {
    this.#sync = link;
    this.#deviceId = device;
    this.#environment = world;
    this.#port = host;
  }

  get session(): CallMediaSession | undefined {
    return this.#session;
  }

  get view(): MediaView {
    return this.#view;
  }

  /** What the call before left to be seen is not this one's. */
  resetView(): void {
    if (!this.#session) this.#view = initialView;
  }

  /** A call that is taken up again counts on from there. */
  restore(kept: SavedCall): void {
    this.#savedCall = kept;
    this.#environment.recordDataUse(kept.id, kept.bytes); // should it not come to be taken up
  }

  get preferences(): MediaPreferences {
    return this.#preferences ?? silentPreferences;
  }

  /** It is kept before it holds: a page that goes at this moment has it when it is back. */
  changePreference(choice: MediaPreferenceChange, call: LocalCall, keep: () => void): void {
    const before = this.#preferences ?? this.#getInitialPreferences(call);
    const after = applyPreferenceChange(before, choice);
    this.#preferences = after;
    keep();
    const plane = this.#session;
    if (!plane) return;
    if ("isMuted" in choice) plane.setMuted(choice.isMuted);
    if ("device" in choice && choice.device !== "audiooutput") plane.selectDevice(choice.device, choice.id);
    if ("takesPictures" in choice) plane.setRemoteVideoWanted(choice.takesPictures);
    if ("isCameraOn" in choice || after.isCameraOn !== before.isCameraOn) plane.setCameraOn(after.isCameraOn);
  }

  #getInitialPreferences({ id, kind }: LocalCall): MediaPreferences {
    return this.#savedCall?.id === id ? this.#savedCall.choices : createDefaultPreferences(kind);
  }

  runEffect(
    deed: Exclude<Extract<CallEffect, { do: "media" }>["media"], "stop">,
    call: LocalCall,
    told: Call | undefined,
  ): void {
    const plane = this.#session ?? this.#createSession(call);
    if (deed === "open") plane.openDevices();
    if (deed !== "start") return;
    const device = call.isCaller ? told?.to_device : told?.from_device;
    if (!device || device === this.#startedDevice) return;
    this.#startedDevice = device;
    plane.start(device);
  }

  stop({ id }: LocalCall, isHungUp: boolean): void {
    const plane = this.#session;
    this.#preferences = undefined;
    if (!plane) return;
    this.#generation++;
    this.#session = undefined;
    this.#startedDevice = undefined;
    this.#environment.recordDataUse(id, this.#view.bytes);
    // How much it was stands on the screen for a moment yet.
    this.#view = { ...this.#view, local: undefined, remote: undefined };
    plane.stop(isHungUp);
  }

  #createSession(call: LocalCall): CallMediaSession {
    const { me } = this.#sync;
    const turn = ++this.#generation;
    const { bytes } = this.#savedCall?.id === call.id ? this.#savedCall : initialView;
    this.#reportedBytes = bytes;
    const choices = this.#preferences ?? this.#getInitialPreferences(call);
    this.#preferences = choices;
    const camera = choices.isCameraOn ? "waiting" : "off";
    this.#view = { ...initialView, bytes, camera, isVoiceOnly: !choices.takesPictures };
    const plane = this.#environment.createMedia(
      {
        preferences: choices,
        isPolite: me > call.peer,
        deviceId: this.#deviceId,
        isCaller: call.isCaller,
        fetchIceServers: () => this.#fetchIceServers(),
        isDataSaver: this.#environment.isDataSaver(),
      },
      this.#createEvents(turn, bytes),
    );
    this.#session = plane;
    plane.prepare();
    return plane;
  }

  #createEvents(turn: number, earlier: number): MediaEvents {
    const isCurrent = () => turn === this.#generation;
    const step = (type: "heard" | "failed") => () => {
      if (isCurrent()) this.#port.step({ type });
    };
    return {
      audioReceived: step("heard"),
      interrupted: (silentMs) => {
        if (isCurrent()) this.#port.step({ type: "interrupted", at: this.#sync.platform.now() - silentMs });
      },
      failed: step("failed"),
      peerHungUp: () => {
        if (isCurrent()) this.#port.left();
      },
      connectionSuspected: () => {
        if (isCurrent()) this.#sync.checkConnection();
      },
      viewChanged: (view) => {
        if (!isCurrent()) return;
        this.#view = { ...view, bytes: view.bytes + earlier };
        this.#reportDataUse();
        this.#port.changed();
      },
      sendSignal: (to, signal) => {
        const call = this.#port.call();
        if (!call || !isCurrent()) return;
        const { id, conversation } = call;
        // What is lost the media say again.
        this.#sync
          .request({ type: "signal", conversation, call: id, from: this.#deviceId, to, signal })
          .catch(() => undefined);
      },
    };
  }

  #reportDataUse(): void {
    const { bytes } = this.#view;
    const call = this.#port.call();
    if (!call || bytes < this.#reportedBytes + dataUseStepBytes) return;
    this.#reportedBytes = bytes;
    this.#environment.recordDataUse(call.id, bytes);
  }

  async #fetchIceServers(): Promise<IceServers> {
    await this.#port.known();
    const call = this.#port.call();
    if (!call) throw new SyncError("call_not_found");
    return this.#sync.fetchIceServers(call.id);
  }
}
