import type { MediaPreferences } from "#calls/media/media-preferences.ts";
import type { CallMediaSession, MediaEvents, MediaOptions } from "#calls/media/media-session.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import type { ModelTab } from "./model-tab.ts";

const sessions = new Map<string, FakeMediaSession>();

/**
 * Media session without media. Two sessions hear each other while both are alive and online, once each was started with
 * the other's device and received its signal through the server.
 */
export class FakeMediaSession implements CallMediaSession {
  readonly id = createUuid();
  isStopped = false;
  isOpen: boolean;
  preconnected: Uuid | undefined;
  peer: Uuid | undefined;
  peerSession: FakeMediaSession | undefined;
  /** Mute, camera and video preferences, from the start on. */
  readonly preferenceHistory: Pick<MediaPreferences, "isMuted" | "isCameraOn" | "takesPictures">[];
  /** Selected devices. */
  devices: MediaPreferences["devices"];
  #isHeard = false;
  #isInterrupted = false;
  #flowedAt = 0;
  readonly #tab: ModelTab;
  readonly #events: MediaEvents;

  constructor(tab: ModelTab, options: MediaOptions, events: MediaEvents) {
    this.#tab = tab;
    this.#events = events;
    this.isOpen = options.isCaller;
    const { isMuted, isCameraOn, takesPictures } = options.preferences;
    this.devices = options.preferences.devices;
    this.preferenceHistory = [{ isMuted, isCameraOn, takesPictures }];
    sessions.set(this.id, this);
    void options.fetchIceServers().catch(() => undefined);
  }

  prepare(): void {}
  openDevices(): void {
    this.isOpen = true;
  }
  preconnect(device: Uuid): void {
    this.preconnected = device;
  }
  start(device: Uuid): void {
    if (this.peer) this.#tab.violations.push("media were started twice");
    if (!this.isOpen) this.#tab.violations.push("media were started before they were opened");
    this.peer = device;
    this.#flowedAt = this.#tab.browser.time.now;
    this.#checkFlow();
  }
  receiveSignal(from: Uuid, signal: string): void {
    if (this.isStopped) this.#tab.violations.push("a stopped media session received a signal");
    const [word, id = ""] = signal.split(" ");
    if (!this.peer || from !== this.peer) return;
    this.peerSession = sessions.get(id);
    if (word === "hello") this.#events.sendSignal(from, `here ${this.id}`);
  }
  resendSignals(): void {
    if (this.peer && !this.#isHeard) this.#events.sendSignal(this.peer, `hello ${this.id}`);
  }
  setMuted(isMuted: boolean): void {
    this.#recordPreferences({ isMuted });
  }
  setCameraOn(isCameraOn: boolean): void {
    this.#recordPreferences({ isCameraOn });
  }
  setRemoteVideoWanted(takesPictures: boolean): void {
    this.#recordPreferences({ takesPictures });
  }
  setRemoteVideoVisible(): void {}
  #recordPreferences(change: Partial<MediaPreferences>): void {
    const now = this.preferenceHistory.at(-1);
    if (now) this.preferenceHistory.push({ ...now, ...change });
  }
  selectDevice(kind: "audioinput" | "videoinput", deviceId: string): void {
    this.devices = { ...this.devices, [kind]: deviceId };
  }
  stop(isHungUp = false): void {
    const { peerSession: other } = this;
    if (isHungUp && other && this.#flows) other.#tab.browser.time.after(20, () => other.receiveHangup());
    this.isStopped = true;
  }
  receiveHangup(): void {
    if (this.#isLiving && !this.#tab.browser.losesPeerMessages) this.#events.peerHungUp();
  }
  /** Reports the bytes transferred in both directions so far. */
  reportDataUse(bytes: number): void {
    this.#events.viewChanged({
      mic: "on",
      camera: "off",
      local: undefined,
      remote: undefined,
      isVideoRestored: false,
      isVoiceOnly: false,
      peer: { isMuted: false, hasMic: true, hasVideo: false, isCameraOff: false, isVoiceOnly: false },
      quality: 3,
      bytes,
      isMicInaudible: false,
    });
  }

  get #isLiving(): boolean {
    return !this.isStopped && this.#tab.isAlive;
  }

  get #flows(): boolean {
    const { peerSession: other } = this;
    return (
      other?.peer === this.#tab.device &&
      other.#isLiving &&
      !other.#tab.browser.isOffline &&
      !this.#tab.browser.isOffline
    );
  }

  #checkFlow(): void {
    if (!this.#isLiving || !this.peer) return;
    const { time } = this.#tab.browser;
    if (this.#flows) {
      this.#flowedAt = time.now;
      if (!this.#isHeard || this.#isInterrupted) {
        this.#isHeard = true;
        this.#isInterrupted = false;
        this.#events.audioReceived();
      }
    } else {
      this.#events.sendSignal(this.peer, `hello ${this.id}`);
      if (this.#isHeard && !this.#isInterrupted && time.now - this.#flowedAt > 2_000) {
        this.#isInterrupted = true;
        this.#events.interrupted(time.now - this.#flowedAt);
      }
      if (time.now - this.#flowedAt > 20_000) this.#events.failed();
    }
    time.after(1_000, () => this.#checkFlow());
  }
}
