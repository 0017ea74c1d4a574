import type { QualityLevel } from "#calls/quality/quality-ladder.ts";
import type { IceCandidates, SessionDescription } from "#calls/signaling/messages.ts";
import type { AddressDisclosure } from "./ice-servers.ts";
import { selectCodecs, stripDescription, toOutgoingCandidate, tuneRemoteDescription } from "./sdp.ts";
import { createVideoEncoding, detachVideoTrack, setEncoding } from "./sender-encodings.ts";

type MediaKind = "audio" | "video";

type PeerConnectionEvents = {
  descriptionCreated(description: SessionDescription): void;
  candidateFound(candidate: string, section: string, generation: string): void;
  /** The other's data channel is open, said something, or closed. */
  channelOpened(): void;
  channelMessage(text: string): void;
  channelClosed(): void;
  /** The connection's state, or that first packets of a track came. */
  changed(): void;
};

/** SPEC.md §9: more is not put into a data channel that does not get rid of what it has. */
const channelBufferMaxBytes = 64 * 1024;
const lastMessageMs = 1_000; // what is said last has left by then, or will not

/**
 * One peer connection from its birth to its end, by perfect negotiation (W3C WebRTC §10). The first offer is always the
 * impolite side's, and its sections of sound and picture are there from the start: whatever is sent later comes and goes
 * with `replaceTrack` alone.
 */
export class PeerConnection {
  readonly #pc: RTCPeerConnection;
  readonly #dataChannel: RTCDataChannel;
  readonly #isPolite: boolean;
  readonly #events: PeerConnectionEvents;
  #disclosure: AddressDisclosure;
  /** Local candidates that are withheld until the call is accepted. */
  #withheldCandidates: RTCIceCandidate[] = [];
  readonly #localStream = new MediaStream();
  readonly #tracks: Record<MediaKind, MediaStreamTrack | null> = { audio: null, video: null };
  #earlyCandidates: RTCIceCandidateInit[] = [];
  #transceivers: Partial<Record<MediaKind, RTCRtpTransceiver>> = {};
  #remoteStream: MediaStream | undefined;
  #offerCount = 0;
  #level: QualityLevel | undefined;
  #isRedundant = false;
  #isClosed = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(
    configuration: RTCConfiguration,
    isPolite: boolean,
    disclosure: AddressDisclosure,
    events: PeerConnectionEvents,
  ) {
    this.#isPolite = isPolite;
    this.#disclosure = disclosure;
    this.#events = events;
    this.#pc = new RTCPeerConnection({ bundlePolicy: "max-bundle", ...configuration });
    this.#pc.addEventListener("icecandidate", ({ candidate }) => this.#onCandidate(candidate));
    this.#pc.addEventListener("connectionstatechange", () => this.#events.changed());
    this.#pc.addEventListener("negotiationneeded", () => {
      if (this.isNegotiated) this.#enqueue(() => this.#sendOffer());
    });
    this.#dataChannel = this.#pc.createDataChannel("state", { negotiated: true, id: 0, ordered: false });
    this.#dataChannel.addEventListener("open", () => this.#events.channelOpened());
    this.#dataChannel.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#events.channelMessage(data);
    });
    this.#dataChannel.addEventListener("close", () => {
      if (!this.#isClosed) this.#events.channelClosed();
    });
    if (!isPolite) this.#addTransceivers();
  }

  get connectionState(): RTCPeerConnectionState {
    return this.#pc.connectionState;
  }

  /** Both sides have described themselves. */
  get isNegotiated(): boolean {
    return this.#pc.currentRemoteDescription !== null;
  }

  get remoteStream(): MediaStream | undefined {
    return this.#remoteStream;
  }

  /** Packets of the other side's voice have come. */
  get isReceivingAudio(): boolean {
    return this.#transceivers.audio?.receiver.track.muted === false;
  }

  getStats(): Promise<RTCStatsReport> {
    return this.#pc.getStats();
  }

  receiveDescription(description: SessionDescription): void {
    this.#enqueue(() => this.#applyDescription(description));
  }

  addCandidates({ u, c }: IceCandidates): void {
    this.#enqueue(async () => {
      for (const [candidate, sdpMid] of c) await this.#addCandidate({ candidate, sdpMid, usernameFragment: u });
    });
  }

  /** The call was accepted here: from now on all addresses may be told and used, by the configuration given. */
  discloseAddresses(configuration: RTCConfiguration): void {
    const wasWithheld = this.#disclosure === "withheld";
    this.#disclosure = "all";
    for (const candidate of this.#withheldCandidates.splice(0)) this.#onCandidate(candidate);
    // What a relay carries meanwhile goes on until a better way is found.
    if (!wasWithheld) this.restartIce(configuration);
    else this.#enqueue(() => this.#addEarlyCandidates());
  }

  /** Looks for another way between the two, with the newest servers if there are any. */
  restartIce(configuration: RTCConfiguration | undefined): void {
    this.#enqueue(async () => {
      if (configuration) this.#pc.setConfiguration({ bundlePolicy: "max-bundle", ...configuration });
      this.#pc.restartIce();
      // An offer nobody answered yet holds addresses of before.
      if (this.#pc.signalingState === "have-local-offer") await this.#pc.setLocalDescription({ type: "rollback" });
      if (this.isNegotiated || !this.#isPolite) await this.#sendOffer();
    });
  }

  sendTrack(kind: MediaKind, track: MediaStreamTrack | undefined): void {
    const next = track ?? null;
    if (this.#tracks[kind] === next) return;
    this.#tracks[kind] = next;
    if (kind === "audio") {
      void this.#attachTrack(kind);
      return;
    }
    this.#applyQuality(); // no picture goes larger than it may
    this.#enqueue(() => this.#attachTrack(kind));
  }

  setQuality(rung: QualityLevel): void {
    const isSame = rung.audioBitrate === this.#level?.audioBitrate && rung.video === this.#level.video;
    this.#level = rung;
    if (!isSame) this.#applyQuality();
    if (rung.isRedundant === this.#isRedundant) return;
    this.#isRedundant = rung.isRedundant;
    // Which codec goes is read from the other's description when it is set: once more, then.
    if (this.isNegotiated) this.#enqueue(() => this.#sendOffer());
  }

  /** Over the data channel; false when it is not open or full. */
  sendText(text: string): boolean {
    if (this.#dataChannel.readyState !== "open" || this.#dataChannel.bufferedAmount > channelBufferMaxBytes)
      return false;
    this.#dataChannel.send(text);
    return true;
  }

  /** What is said last leaves first: the other side closes when it heard it. */
  close(lastWords?: string): void {
    this.#isClosed = true;
    const end = () => this.#pc.close();
    if (lastWords !== undefined && this.sendText(lastWords)) {
      this.#dataChannel.addEventListener("close", end);
      setTimeout(end, lastMessageMs);
    } else end();
  }

  /** One after another. What fails leaves a connection that does not come up, which is seen by whoever watches it. */
  #enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(async () => {
      if (this.#isClosed) return;
      try {
        await work();
      } catch (error) {
        if (!this.#isClosed) console.warn("a step of the peer connection failed", error);
      }
    });
  }

  #addTransceivers(): void {
    for (const kind of ["audio", "video"] as const) {
      const transceiver = this.#pc.addTransceiver(kind, { direction: "sendrecv", streams: [this.#localStream] });
      this.#setCodecPreferences(transceiver, kind);
      this.#transceivers[kind] = transceiver;
    }
    this.#exposeRemoteStream();
    this.#enqueue(() => this.#sendOffer());
  }

  #setCodecPreferences(transceiver: RTCRtpTransceiver, kind: MediaKind): void {
    const codecs = selectCodecs(kind, RTCRtpReceiver.getCapabilities(kind)?.codecs ?? []);
    if (codecs.length > 0) transceiver.setCodecPreferences?.(codecs);
  }

  async #sendOffer(): Promise<void> {
    if (this.#pc.signalingState !== "stable") return; // it is needed still when it is stable again
    await this.#pc.setLocalDescription();
    this.#offerCount++;
    this.#sendDescription("offer", this.#offerCount);
  }

  #sendDescription(d: SessionDescription["d"], n: number): void {
    const sdp = this.#pc.localDescription?.sdp;
    if (sdp !== undefined) this.#events.descriptionCreated({ d, n, sdp: stripDescription(sdp) });
  }

  async #applyDescription({ d, n, sdp }: SessionDescription): Promise<void> {
    const isPending = this.#pc.signalingState === "have-local-offer";
    if (d === "answer" ? !isPending || n !== this.#offerCount : isPending && !this.#isPolite) return;
    const wasNegotiated = this.isNegotiated;
    await this.#pc.setRemoteDescription({
      type: d,
      sdp: tuneRemoteDescription(sdp, { isRedundant: this.#isRedundant }),
    });
    await this.#addEarlyCandidates();
    if (d === "offer") {
      if (this.#transceivers.audio === undefined) this.#adoptTransceivers();
      await this.#pc.setLocalDescription();
      this.#sendDescription("answer", n);
    }
    if (!wasNegotiated) {
      this.#applyQuality();
      this.#events.changed();
    }
  }

  /** The answering side takes those that the offer made. */
  #adoptTransceivers(): void {
    for (const transceiver of this.#pc.getTransceivers()) {
      const kind = transceiver.receiver.track.kind === "audio" ? "audio" : "video";
      this.#transceivers[kind] = transceiver;
      transceiver.direction = "sendrecv";
      transceiver.sender.setStreams?.(this.#localStream); // sound and picture of one stream keep step
      void this.#attachTrack(kind);
    }
    this.#exposeRemoteStream();
  }

  #exposeRemoteStream(): void {
    const tracks = Object.values(this.#transceivers).map(({ receiver }) => receiver.track);
    for (const track of tracks) track.addEventListener("unmute", () => this.#events.changed());
    this.#remoteStream = new MediaStream(tracks);
    this.#events.changed();
  }

  async #attachTrack(kind: MediaKind): Promise<void> {
    try {
      const sender = this.#transceivers[kind]?.sender;
      const track = this.#tracks[kind];
      if (sender && kind === "video" && track === null) await detachVideoTrack(sender);
      else await sender?.replaceTrack(track);
    } catch (error) {
      if (!this.#isClosed) console.warn("a track could not be sent", error);
    }
  }

  #applyQuality(): void {
    this.#enqueue(async () => {
      const rung = this.#level;
      const { audio, video } = this.#transceivers;
      if (!rung || !this.isNegotiated) return;
      if (audio) await setEncoding(audio.sender, { maxBitrate: rung.audioBitrate });
      if (video) await setEncoding(video.sender, createVideoEncoding(rung, this.#tracks.video));
    });
  }

  #onCandidate(candidate: RTCIceCandidate | null): void {
    if (!candidate?.candidate || candidate.sdpMid === null) return;
    if (this.#disclosure === "withheld") {
      this.#withheldCandidates.push(candidate);
      return;
    }
    const line = toOutgoingCandidate(candidate.candidate, this.#disclosure === "relayed");
    if (line !== undefined) this.#events.candidateFound(line, candidate.sdpMid, candidate.usernameFragment ?? "");
  }

  async #addEarlyCandidates(): Promise<void> {
    const early = this.#earlyCandidates;
    this.#earlyCandidates = [];
    for (const candidate of early) await this.#addCandidate(candidate);
  }

  async #addCandidate(candidate: RTCIceCandidateInit): Promise<void> {
    if (!this.#pc.remoteDescription || this.#disclosure === "withheld") {
      this.#earlyCandidates.push(candidate);
      return;
    }
    try {
      await this.#pc.addIceCandidate(candidate);
    } catch {
      // It belongs to an offer that gave way, or to a generation that is over.
    }
  }
}
