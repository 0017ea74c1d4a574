import { type MediaState, parseSignal, type SignalFrame } from "#calls/signaling/messages.ts";
import type { DeviceId } from "#contract/calls/call.ts";
import { CallMetrics } from "./call-metrics.ts";
import { CameraIdleTimer, VideoRestoredHint } from "./camera-idle.ts";
import { DevicePeer } from "./device-peer.ts";
import { IceServerProvider } from "./ice-servers.ts";
import { LocalDevices } from "./local-devices.ts";
import { type LocalMedia, toMediaState, toMediaView } from "./local-state.ts";
import {
  type CallMediaSession,
  type CreateMediaSession,
  isSameMediaView,
  type MediaEvents,
  type MediaOptions,
  type MediaView,
} from "./media-session.ts";
import { watchNetwork } from "./network-watch.ts";

const pollMs = 500;
const ringingPeersMax = 2;
const hiddenAfterMs = 3_000; // whoever looks away for a moment has the picture still

class PeerMedia implements CallMediaSession {
  readonly #options: MediaOptions;
  readonly #events: MediaEvents;
  readonly #devices: LocalDevices;
  readonly #iceServers: IceServerProvider;
  readonly #peers = new Map<DeviceId, DevicePeer>();
  readonly #metrics: CallMetrics;
  readonly #unwatchNetwork: () => void;
  #activePeer: DevicePeer | undefined; // the one that is talked over
  #startedAt = 0;
  /** The person takes part: they called, or accepted. */
  #isAccepted = false;
  #hasReceivedAudio = false;
  #isInterrupted = false;
  #wantsRemoteVideo: boolean;
  /** Since when nobody looks at the other side's picture. */
  #remoteVideoHiddenSince: number | undefined;
  #isCameraOn: boolean;
  /** The other side wants pictures, as far as it said: while its page is loaded anew, what it said before. */
  #isVideoWanted = true;
  #videoRequestedAt = 0;
  readonly #videoRestoredHint = new VideoRestoredHint();
  readonly #cameraIdleTimer = new CameraIdleTimer();
  #sentState: MediaState | undefined;
  #view: MediaView | undefined;
  #isPolling = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isStopped = false;

  constructor(options: MediaOptions, events: MediaEvents) {
    this.#options = options;
    this.#events = events;
    const { isCameraOn, takesPictures } = options.preferences;
    this.#isCameraOn = isCameraOn;
    this.#wantsRemoteVideo = takesPictures;
    this.#metrics = new CallMetrics(options.isDataSaver);
    this.#iceServers = new IceServerProvider(() => options.fetchIceServers());
    this.#devices = new LocalDevices(options.isDataSaver, options.preferences, () => this.#update());
    this.#timer = setInterval(() => void this.#poll(), pollMs);
    this.#unwatchNetwork = watchNetwork({
      changed: () => {
        for (const link of this.#peers.values()) link.onNetworkChange(true);
        events.connectionSuspected();
        void this.#poll();
      },
      maybeChanged: () => {
        for (const link of this.#peers.values()) link.onNetworkChange(false);
      },
      pageHiding: () => {
        for (const link of this.#peers.values()) link.announceLeaving();
      },
    });
  }

  prepare(): void {
    if (this.#options.isCaller) this.openDevices();
    this.#update();
  }

  openDevices(): void {
    this.#isAccepted = true;
    for (const link of this.#peers.values()) link.accept();
    if (!this.#isStopped) this.#devices.open(this.#isCameraOn ? ["audio", "video"] : ["audio"]);
  }

  preconnect(device: DeviceId): void {
    if (this.#isStopped || this.#peers.has(device)) return;
    if (!this.#activePeer && this.#peers.size < ringingPeersMax) this.#connect(device);
  }

  start(device: DeviceId): void {
    if (this.#isStopped || this.#activePeer?.deviceId === device) return;
    this.openDevices();
    if (this.#startedAt === 0) this.#startedAt = performance.now();
    this.#activate(this.#peers.get(device) ?? this.#connect(device));
  }

  receiveSignal(from: DeviceId, signal: string): void {
    const frame = this.#isStopped ? undefined : parseSignal(signal);
    if (!frame) return;
    this.preconnect(from);
    if (this.#isReplacing(from, frame)) this.#activate(this.#connect(from));
    this.#peers.get(from)?.receive(frame);
  }

  resendSignals(): void {
    for (const link of this.#peers.values()) link.resendSignals();
  }

  setMuted(isMuted: boolean): void {
    this.#devices.setMuted(isMuted);
    // A tap on a microphone that could not be had is the wish to try again.
    if (!isMuted && this.#startedAt > 0) this.#devices.retry("audio");
  }

  setRemoteVideoWanted(areTaken: boolean): void {
    this.#wantsRemoteVideo = areTaken;
    this.#update();
  }

  setRemoteVideoVisible(isSeen: boolean): void {
    this.#remoteVideoHiddenSince = isSeen ? undefined : (this.#remoteVideoHiddenSince ?? performance.now());
    this.#update();
  }

  setCameraOn(isOn: boolean): void {
    if (this.#isStopped) return;
    if (isOn && this.#isCameraOn) this.#metrics.retryVideo();
    if (isOn) this.#videoRequestedAt = performance.now();
    this.#isCameraOn = isOn;
    if (!isOn) this.#devices.turnOff("video");
    else this.#devices.retry("video");
  }

  selectDevice(kind: "audioinput" | "videoinput", deviceId: string): void {
    if (!this.#isStopped) this.#devices.select(kind === "audioinput" ? "audio" : "video", deviceId);
  }

  stop(isHungUp = false): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#unwatchNetwork();
    for (const link of this.#peers.values()) link.close(isHungUp && link === this.#activePeer);
    this.#peers.clear();
    this.#activePeer = undefined;
    this.#iceServers.close();
    this.#devices.close();
  }

  #connect(device: DeviceId): DevicePeer {
    const { isPolite } = this.#options;
    const link = new DevicePeer(device, { isPolite, isAccepted: this.#isAccepted }, this.#iceServers, {
      sendSignal: (to, signal) => this.#events.sendSignal(to, signal),
      changed: () => this.#update(),
      connectionSuspected: () => this.#events.connectionSuspected(),
      interrupted: (silentMs) => {
        this.#isInterrupted = true;
        this.#events.interrupted(silentMs);
        this.#update();
      },
      mended: () => {
        this.#isInterrupted = false;
        if (this.#hasReceivedAudio) this.#events.audioReceived();
      },
      failed: () => this.#events.failed(),
      peerHungUp: () => {
        // One that only rings has no say.
        if (link === this.#activePeer) this.#events.peerHungUp();
      },
    });
    this.#peers.set(device, link);
    return link;
  }

  /** From now on that is the other side. Those of its devices that only rang are let go. */
  #activate(link: DevicePeer): void {
    for (const other of this.#peers.values()) {
      if (other === link) continue;
      this.#peers.delete(other.deviceId);
      other.close();
    }
    this.#activePeer = link;
    link.start();
    link.setQuality(this.#metrics.ladder.level);
    this.#sentState = undefined;
    this.#update();
  }

  /** A page that came back under another name, its store was emptied: it takes the place of one that is silent. */
  #isReplacing(from: DeviceId, { x }: SignalFrame): boolean {
    const link = this.#activePeer;
    if (!link || this.#peers.has(from) || !this.#hasReceivedAudio) return false;
    const isBeginning = x.some((item) => "hello" in item || ("d" in item && item.d === "offer"));
    return isBeginning && (link.isPeerGone || link.connectionState !== "connected");
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const link = this.#activePeer;
      const sample = await link?.readStats();
      if (this.#isStopped) return;
      if (link && link === this.#activePeer && sample) {
        this.#metrics.addSample(
          sample,
          pollMs / 1000,
          this.#devices,
          this.#isCameraOn && this.#isVideoWanted,
          link.peerState,
        );
        link.setQuality(this.#metrics.ladder.level);
        // As if the network had changed: the old way goes on until there is a new one.
        if (sample.isRelayed) void this.#iceServers.renewIfDue().then((isNew) => isNew && link.onNetworkChange(true));
      }
      for (const each of this.#peers.values()) each.checkConnection(each === link ? (sample?.packets ?? 0) : 0);
      this.#suspendIdleCamera();
      this.#update();
    } finally {
      this.#isPolling = false;
    }
  }

  #suspendIdleCamera(): void {
    const isRefused = !this.#isVideoWanted || this.#activePeer?.peerState?.takesVideo === false;
    const isHeldBack = this.#startedAt > 0 && (isRefused || this.#metrics.ladder.videoCooldown > 0);
    if (
      this.#cameraIdleTimer.shouldSuspend(this.#isCameraOn && isHeldBack, this.#videoRequestedAt, performance.now())
    ) {
      this.#devices.suspend("video");
    } else this.#devices.resume("video");
  }

  /** Everything that follows from how things are now: what is sent, told and shown. Doing it again changes nothing. */
  #update(): void {
    if (this.#isStopped) return;
    const link = this.#activePeer;
    if (link) {
      this.#updateVideoWanted(link.peerState);
      link.sendTrack("audio", this.#devices.getTrack("audio"));
      link.sendTrack("video", this.#metrics.ladder.level.video === "off" ? undefined : this.#devices.getTrack("video"));
      this.#sendState(link);
      if (!this.#hasReceivedAudio && this.#isReceivingAudio(link)) {
        this.#hasReceivedAudio = true;
        this.#events.audioReceived();
      }
    }
    this.#publishView();
  }

  #updateVideoWanted(peer: MediaState | undefined): void {
    if (!peer || peer.wantsVideo === this.#isVideoWanted) return;
    this.#isVideoWanted = peer.wantsVideo;
    this.#videoRequestedAt = performance.now();
  }

  /** Its voice comes; or it talks without a microphone, and that much is known. */
  #isReceivingAudio(link: DevicePeer): boolean {
    // Some browsers tell of a track's first packet late, or never.
    const isComing = link.isReceivingAudio || this.#metrics.isReceivingAudio;
    return isComing || (link.connectionState === "connected" && link.peerState?.sound === "none");
  }

  get #localMedia(): LocalMedia {
    return {
      devices: this.#devices,
      metrics: this.#metrics,
      isCameraOn: this.#isCameraOn,
      wantsRemoteVideo: this.#wantsRemoteVideo,
      isRemoteVideoHidden:
        performance.now() - (this.#remoteVideoHiddenSince ?? Number.POSITIVE_INFINITY) > hiddenAfterMs,
      isVideoWanted: this.#isVideoWanted,
      videoRequestedAt: this.#videoRequestedAt,
      startedAt: this.#startedAt,
    };
  }

  #sendState(link: DevicePeer): void {
    const state: MediaState = { n: this.#sentState?.n ?? 0, ...toMediaState(this.#localMedia) };
    if (this.#sentState && JSON.stringify(state) === JSON.stringify(this.#sentState)) return;
    this.#sentState = { ...state, n: state.n + 1 };
    link.sendState(this.#sentState);
  }

  #publishView(): void {
    const shown = toMediaView(this.#localMedia, this.#activePeer?.peerState);
    const isSeenAgain = this.#videoRestoredHint.update(shown.camera, performance.now());
    const quality = this.#isInterrupted ? 1 : shown.quality;
    const view: MediaView = { ...shown, quality, isVideoRestored: isSeenAgain, remote: this.#activePeer?.remoteStream };
    if (this.#view && isSameMediaView(this.#view, view)) return;
    this.#view = view;
    this.#events.viewChanged(view);
  }
}

/**
 * The media of a call between two people: directly from browser to browser, or over a relay. What comes is in
 * `MediaView.remote`; it is to be played by an element that is not muted, or Chromium neither decodes nor measures it,
 * and the other side is told that it is not heard.
 */
export const createPeerMedia: CreateMediaSession = (options, events) => new PeerMedia(options, events);
