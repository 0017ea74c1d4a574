import { type MediaState, parseSignal, type SignalFrame } from "#calls/signaling/messages.ts";
import type { DeviceId } from "#contract/calls/call.ts";
import { CallMetrics } from "./call-metrics.ts";
import { VideoRestoredHint } from "./camera-idle.ts";
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
import { VideoRequests } from "./video-requests.ts";

const pollMs = 500;
const ringingPeersMax = 2;

class PeerMedia implements CallMediaSession {
  readonly #options: MediaOptions;
  readonly #events: MediaEvents;
  readonly #devices: LocalDevices;
  readonly #iceServers: IceServerProvider;
  readonly #peers = new Map<DeviceId, DevicePeer>();
  readonly #metrics: CallMetrics;
  readonly #unwatchNetwork: () => void;
  #activePeer: DevicePeer | undefined; // the peer of the answered call
  #startedAt = 0;
  /** The person called or accepted. */
  #isAccepted = false;
  #hasReceivedAudio = false;
  #isInterrupted = false;
  readonly #video: VideoRequests;
  readonly #videoRestoredHint = new VideoRestoredHint();
  #sentState: MediaState | undefined;
  #view: MediaView | undefined;
  #isPolling = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isStopped = false;

  constructor(options: MediaOptions, events: MediaEvents) {
    this.#options = options;
    this.#events = events;
    this.#video = new VideoRequests(options.preferences);
    this.#metrics = new CallMetrics(options.isDataSaver);
    this.#iceServers = new IceServerProvider(() => options.fetchIceServers());
    this.#devices = new LocalDevices(options.isDataSaver, options.preferences, () => this.#update());
    this.#timer = setInterval(() => void this.#poll(), pollMs);
    this.#unwatchNetwork = watchNetwork({
      changed: () => {
        for (const peer of this.#peers.values()) peer.onNetworkChange(true);
        events.connectionSuspected();
        void this.#poll();
      },
      maybeChanged: () => {
        for (const peer of this.#peers.values()) peer.onNetworkChange(false);
      },
      pageHiding: () => {
        for (const peer of this.#peers.values()) peer.announceLeaving();
      },
    });
  }

  prepare(): void {
    if (this.#options.isCaller) this.openDevices();
    this.#update();
  }

  openDevices(): void {
    this.#isAccepted = true;
    for (const peer of this.#peers.values()) peer.accept();
    if (!this.#isStopped) this.#devices.open(this.#video.isCameraOn ? ["audio", "video"] : ["audio"]);
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
    for (const peer of this.#peers.values()) peer.resendSignals();
  }

  setMuted(isMuted: boolean): void {
    this.#devices.setMuted(isMuted);
    // Unmuting a microphone that failed to open is a request to try again.
    if (!isMuted && this.#startedAt > 0) this.#devices.retry("audio");
  }

  setRemoteVideoWanted(isWanted: boolean): void {
    this.#video.setRemoteVideoWanted(isWanted);
    this.#update();
  }

  setRemoteVideoVisible(isSeen: boolean): void {
    this.#video.setRemoteVideoVisible(isSeen);
    this.#update();
  }

  setCameraOn(isOn: boolean): void {
    if (this.#isStopped) return;
    if (isOn && this.#video.isCameraOn) this.#metrics.retryVideo();
    this.#video.setCameraOn(isOn);
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
    for (const peer of this.#peers.values()) peer.close(isHungUp && peer === this.#activePeer);
    this.#peers.clear();
    this.#activePeer = undefined;
    this.#iceServers.close();
    this.#devices.close();
  }

  #connect(device: DeviceId): DevicePeer {
    const { isPolite } = this.#options;
    const peer = new DevicePeer(device, { isPolite, isAccepted: this.#isAccepted }, this.#iceServers, {
      sendSignal: (to, signal) => this.#events.sendSignal(to, signal),
      changed: () => this.#update(),
      connectionSuspected: () => this.#events.connectionSuspected(),
      interrupted: (silentMs) => {
        this.#isInterrupted = true;
        this.#events.interrupted(silentMs);
        this.#update();
      },
      recovered: () => {
        this.#isInterrupted = false;
        if (this.#hasReceivedAudio) this.#events.audioReceived();
      },
      failed: () => this.#events.failed(),
      peerHungUp: () => {
        // A device that only rings cannot end the call.
        if (peer === this.#activePeer) this.#events.peerHungUp();
      },
    });
    this.#peers.set(device, peer);
    return peer;
  }

  /** Makes this peer the other side of the call and closes the peers that only rang. */
  #activate(peer: DevicePeer): void {
    for (const other of this.#peers.values()) {
      if (other === peer) continue;
      this.#peers.delete(other.deviceId);
      other.close();
    }
    this.#activePeer = peer;
    peer.start();
    peer.setQuality(this.#metrics.ladder.level);
    this.#sentState = undefined;
    this.#update();
  }

  /**
   * Whether a new device replaces the silent active peer: a reloaded page has a new device id if its storage was
   * cleared.
   */
  #isReplacing(from: DeviceId, { x }: SignalFrame): boolean {
    const peer = this.#activePeer;
    if (!peer || this.#peers.has(from) || !this.#hasReceivedAudio) return false;
    const isBeginning = x.some((item) => "hello" in item || ("d" in item && item.d === "offer"));
    return isBeginning && (peer.isPeerGone || peer.connectionState !== "connected");
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const peer = this.#activePeer;
      const sample = await peer?.readStats();
      if (this.#isStopped) return;
      if (peer && peer === this.#activePeer && sample) {
        this.#metrics.addSample(
          sample,
          pollMs / 1000,
          this.#devices,
          this.#video.isCameraOn && this.#video.isVideoWanted,
          peer.peerState,
        );
        peer.setQuality(this.#metrics.ladder.level);
        // Handled like a network change: the old path continues until a new one is found.
        if (sample.isRelayed) void this.#iceServers.renewIfDue().then((isNew) => isNew && peer.onNetworkChange(true));
      }
      for (const one of this.#peers.values()) one.checkConnection(one === peer ? (sample?.packets ?? 0) : 0);
      this.#suspendIdleCamera();
      this.#update();
    } finally {
      this.#isPolling = false;
    }
  }

  #suspendIdleCamera(): void {
    const isRefused = !this.#video.isVideoWanted || this.#activePeer?.peerState?.takesVideo === false;
    const isHeldBack = this.#startedAt > 0 && (isRefused || this.#metrics.ladder.videoCooldown > 0);
    if (this.#video.shouldSuspendCamera(isHeldBack)) this.#devices.suspend("video");
    else this.#devices.resume("video");
  }

  /** Brings everything that is sent and shown in line with the current state. Idempotent. */
  #update(): void {
    if (this.#isStopped) return;
    const peer = this.#activePeer;
    if (peer) {
      this.#video.applyPeerState(peer.peerState);
      peer.sendTrack("audio", this.#devices.getTrack("audio"));
      peer.sendTrack("video", this.#metrics.ladder.level.video === "off" ? undefined : this.#devices.getTrack("video"));
      this.#sendState(peer);
      if (!this.#hasReceivedAudio && this.#isReceivingAudio(peer)) {
        this.#hasReceivedAudio = true;
        this.#events.audioReceived();
      }
    }
    this.#publishView();
  }

  /** Whether audio arrives, or the connected peer has no microphone. */
  #isReceivingAudio(peer: DevicePeer): boolean {
    // Some browsers report the first packet of a track late or never.
    const isReceiving = peer.isReceivingAudio || this.#metrics.isReceivingAudio;
    return isReceiving || (peer.connectionState === "connected" && peer.peerState?.sound === "none");
  }

  get #localMedia(): LocalMedia {
    return { devices: this.#devices, metrics: this.#metrics, video: this.#video, startedAt: this.#startedAt };
  }

  #sendState(peer: DevicePeer): void {
    const state: MediaState = { n: this.#sentState?.n ?? 0, ...toMediaState(this.#localMedia) };
    if (this.#sentState && JSON.stringify(state) === JSON.stringify(this.#sentState)) return;
    this.#sentState = { ...state, n: state.n + 1 };
    peer.sendState(this.#sentState);
  }

  #publishView(): void {
    const base = toMediaView(this.#localMedia, this.#activePeer?.peerState);
    const isVideoRestored = this.#videoRestoredHint.update(base.camera, performance.now());
    const quality = this.#isInterrupted ? 1 : base.quality;
    const view: MediaView = { ...base, quality, isVideoRestored, remote: this.#activePeer?.remoteStream };
    if (this.#view && isSameMediaView(this.#view, view)) return;
    this.#view = view;
    this.#events.viewChanged(view);
  }
}

/**
 * Creates the media of a call between two people, connected directly or through a relay. `MediaView.remote` must be
 * played by an element that is not muted. Otherwise Chromium neither decodes nor measures it, and the other side is
 * told that it is not heard.
 */
export const createPeerMedia: CreateMediaSession = (options, events) => new PeerMedia(options, events);
