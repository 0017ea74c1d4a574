import { type MediaState, readSignal, type SignalFrame } from "#calls/signaling/messages.ts";
import type { Device } from "#contract/calls/call.ts";
import { Measures } from "./call-metrics.ts";
import { CameraRest } from "./camera-idle.ts";
import { DeviceLink } from "./device-peer.ts";
import { Servers } from "./ice-servers.ts";
import { Inputs } from "./local-devices.ts";
import { type OwnSide, saidOf, viewOf } from "./local-state.ts";
import {
  isSameView,
  type MakeMedia,
  type MediaEvents,
  type MediaOptions,
  type MediaPlane,
  type MediaView,
} from "./media-session.ts";
import { watchNetwork } from "./network-watch.ts";
import { SeenAgain } from "./seen-again.ts";

const lookMs = 500;
const ringingLinksMax = 2;
const unseenAfterMs = 3_000; // whoever looks away for a moment has the picture still

class PeerMedia implements MediaPlane {
  readonly #options: MediaOptions;
  readonly #events: MediaEvents;
  readonly #inputs: Inputs;
  readonly #servers: Servers;
  readonly #links = new Map<Device, DeviceLink>();
  readonly #measures: Measures;
  readonly #unwatchNetwork: () => void;
  #link: DeviceLink | undefined; // the one that is talked over
  #startedAt = 0;
  /** The person takes part: they called, or accepted. */
  #isAccepted = false;
  #isHeard = false;
  #isInterrupted = false;
  #takesPictures: boolean;
  /** Since when nobody looks at the other side's picture. */
  #unseenSince: number | undefined;
  #isCameraOn: boolean;
  /** The other side wants pictures, as far as it said: while its page is loaded anew, what it said before. */
  #isWanted = true;
  #askedAt = 0;
  readonly #seenAgain = new SeenAgain();
  readonly #cameraRest = new CameraRest();
  #told: MediaState | undefined;
  #view: MediaView | undefined;
  #isLooking = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isStopped = false;

  constructor(options: MediaOptions, events: MediaEvents) {
    this.#options = options;
    this.#events = events;
    const { isCameraOn, takesPictures } = options.choices;
    this.#isCameraOn = isCameraOn;
    this.#takesPictures = takesPictures;
    this.#measures = new Measures(options.isThrifty);
    this.#servers = new Servers(() => options.iceServers());
    this.#inputs = new Inputs(options.isThrifty, options.choices, () => this.#update());
    this.#timer = setInterval(() => void this.#look(), lookMs);
    this.#unwatchNetwork = watchNetwork({
      changed: () => {
        for (const link of this.#links.values()) link.onNetwork(true);
        events.suspect();
        void this.#look();
      },
      doubted: () => {
        for (const link of this.#links.values()) link.onNetwork(false);
      },
      leaving: () => {
        for (const link of this.#links.values()) link.tellGone();
      },
    });
  }

  prepare(): void {
    if (this.#options.isCaller) this.open();
    this.#update();
  }

  open(): void {
    this.#isAccepted = true;
    for (const link of this.#links.values()) link.accept();
    if (!this.#isStopped) this.#inputs.open(this.#isCameraOn ? ["audio", "video"] : ["audio"]);
  }

  meet(device: Device): void {
    if (this.#isStopped || this.#links.has(device)) return;
    if (!this.#link && this.#links.size < ringingLinksMax) this.#connect(device);
  }

  start(device: Device): void {
    if (this.#isStopped || this.#link?.device === device) return;
    this.open();
    if (this.#startedAt === 0) this.#startedAt = performance.now();
    this.#talkOver(this.#links.get(device) ?? this.#connect(device));
  }

  receive(from: Device, signal: string): void {
    const frame = this.#isStopped ? undefined : readSignal(signal);
    if (!frame) return;
    this.meet(from);
    if (this.#isReplacing(from, frame)) this.#talkOver(this.#connect(from));
    this.#links.get(from)?.hear(frame);
  }

  resend(): void {
    for (const link of this.#links.values()) link.resend();
  }

  setMuted(isMuted: boolean): void {
    this.#inputs.setMuted(isMuted);
    // A tap on a microphone that could not be had is the wish to try again.
    if (!isMuted && this.#startedAt > 0) this.#inputs.retry("audio");
  }

  setPictures(areTaken: boolean): void {
    this.#takesPictures = areTaken;
    this.#update();
  }

  setSeen(isSeen: boolean): void {
    this.#unseenSince = isSeen ? undefined : (this.#unseenSince ?? performance.now());
    this.#update();
  }

  setCamera(isOn: boolean): void {
    if (this.#isStopped) return;
    if (isOn && this.#isCameraOn) this.#measures.tryPictures();
    if (isOn) this.#askedAt = performance.now();
    this.#isCameraOn = isOn;
    if (!isOn) this.#inputs.shut("video");
    else this.#inputs.retry("video");
  }

  setInput(kind: "audioinput" | "videoinput", deviceId: string): void {
    if (!this.#isStopped) this.#inputs.choose(kind === "audioinput" ? "audio" : "video", deviceId);
  }

  stop(isHungUp = false): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#unwatchNetwork();
    for (const link of this.#links.values()) link.close(isHungUp && link === this.#link);
    this.#links.clear();
    this.#link = undefined;
    this.#servers.close();
    this.#inputs.close();
  }

  #connect(device: Device): DeviceLink {
    const { isPolite } = this.#options;
    const link = new DeviceLink(device, { isPolite, isAccepted: this.#isAccepted }, this.#servers, {
      post: (to, signal) => this.#events.send(to, signal),
      changed: () => this.#update(),
      suspect: () => this.#events.suspect(),
      interrupted: (silentMs) => {
        this.#isInterrupted = true;
        this.#events.interrupted(silentMs);
        this.#update();
      },
      mended: () => {
        this.#isInterrupted = false;
        if (this.#isHeard) this.#events.heard();
      },
      failed: () => this.#events.failed(),
      left: () => {
        // One that only rings has no say.
        if (link === this.#link) this.#events.left();
      },
    });
    this.#links.set(device, link);
    return link;
  }

  /** From now on that is the other side. Those of its devices that only rang are let go. */
  #talkOver(link: DeviceLink): void {
    for (const other of this.#links.values()) {
      if (other === link) continue;
      this.#links.delete(other.device);
      other.close();
    }
    this.#link = link;
    link.start();
    link.tune(this.#measures.rungs.rung);
    this.#told = undefined;
    this.#update();
  }

  /** A page that came back under another name, its store was emptied: it takes the place of one that is silent. */
  #isReplacing(from: Device, { x }: SignalFrame): boolean {
    const link = this.#link;
    if (!link || this.#links.has(from) || !this.#isHeard) return false;
    const isBeginning = x.some((item) => "hello" in item || ("d" in item && item.d === "offer"));
    return isBeginning && (link.isGone || link.state !== "connected");
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const link = this.#link;
      const sample = await link?.sample();
      if (this.#isStopped) return;
      if (link && link === this.#link && sample) {
        this.#measures.take(sample, lookMs / 1000, this.#inputs, this.#isCameraOn && this.#isWanted, link.peer);
        link.tune(this.#measures.rungs.rung);
        // As if the network had changed: the old way goes on until there is a new one.
        if (sample.isRelayed) void this.#servers.renew().then((isNew) => isNew && link.onNetwork(true));
      }
      for (const each of this.#links.values()) each.look(each === link ? (sample?.packets ?? 0) : 0);
      this.#restCamera();
      this.#update();
    } finally {
      this.#isLooking = false;
    }
  }

  #restCamera(): void {
    const isRefused = !this.#isWanted || this.#link?.peer?.takesVideo === false;
    const isHeldBack = this.#startedAt > 0 && (isRefused || this.#measures.rungs.wait > 0);
    if (this.#cameraRest.look(this.#isCameraOn && isHeldBack, this.#askedAt, performance.now())) {
      this.#inputs.rest("video");
    } else this.#inputs.wake("video");
  }

  /** Everything that follows from how things are now: what is sent, told and shown. Doing it again changes nothing. */
  #update(): void {
    if (this.#isStopped) return;
    const link = this.#link;
    if (link) {
      this.#hearWish(link.peer);
      link.send("audio", this.#inputs.track("audio"));
      link.send("video", this.#measures.rungs.rung.video === "off" ? undefined : this.#inputs.track("video"));
      this.#tell(link);
      if (!this.#isHeard && this.#isAnswered(link)) {
        this.#isHeard = true;
        this.#events.heard();
      }
    }
    this.#show();
  }

  #hearWish(peer: MediaState | undefined): void {
    if (!peer || peer.wantsVideo === this.#isWanted) return;
    this.#isWanted = peer.wantsVideo;
    this.#askedAt = performance.now();
  }

  /** Its voice comes; or it talks without a microphone, and that much is known. */
  #isAnswered(link: DeviceLink): boolean {
    // Some browsers tell of a track's first packet late, or never.
    const isComing = link.isHearing || this.#measures.isComing;
    return isComing || (link.state === "connected" && link.peer?.sound === "none");
  }

  get #side(): OwnSide {
    return {
      inputs: this.#inputs,
      measures: this.#measures,
      isCameraOn: this.#isCameraOn,
      takesPictures: this.#takesPictures,
      isUnseen: performance.now() - (this.#unseenSince ?? Number.POSITIVE_INFINITY) > unseenAfterMs,
      isWanted: this.#isWanted,
      askedAt: this.#askedAt,
      startedAt: this.#startedAt,
    };
  }

  #tell(link: DeviceLink): void {
    const state: MediaState = { n: this.#told?.n ?? 0, ...saidOf(this.#side) };
    if (this.#told && JSON.stringify(state) === JSON.stringify(this.#told)) return;
    this.#told = { ...state, n: state.n + 1 };
    link.tell(this.#told);
  }

  #show(): void {
    const shown = viewOf(this.#side, this.#link?.peer);
    const isSeenAgain = this.#seenAgain.look(shown.camera, performance.now());
    const quality = this.#isInterrupted ? 1 : shown.quality;
    const view: MediaView = { ...shown, quality, isSeenAgain, remote: this.#link?.remote };
    if (this.#view && isSameView(this.#view, view)) return;
    this.#view = view;
    this.#events.changed(view);
  }
}

/**
 * The media of a call between two people: directly from browser to browser, or over a relay. What comes is in
 * `MediaView.remote`; it is to be played by an element that is not muted, or Chromium neither decodes nor measures it,
 * and the other side is told that it is not heard.
 */
export const makePeerMedia: MakeMedia = (options, events) => new PeerMedia(options, events);
