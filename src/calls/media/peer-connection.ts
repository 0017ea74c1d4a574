import type { QualityLevel } from "#calls/quality/quality-ladder.ts";
import type { IceCandidates, SessionDescription } from "#calls/signaling/messages.ts";
import type { AddressDisclosure } from "./ice-servers.ts";
import type { MediaKind } from "./media-session.ts";
import { selectCodecs, stripDescription, toOutgoingCandidate, tuneRemoteDescription } from "./sdp.ts";
import { createVideoEncoding, detachVideoTrack, setEncoding } from "./sender-encodings.ts";

type PeerConnectionEvents = {
  descriptionCreated(description: SessionDescription): void;
  candidateFound(candidate: string, section: string, generation: string): void;
  /** Events of the data channel. */
  channelOpened(): void;
  channelMessage(text: string): void;
  channelClosed(): void;
  /** The connection state changed, or the first packets of a track arrived. */
  changed(): void;
};

/** SPEC.md §9: a data channel whose buffer is fuller than this takes no more messages */
const channelBufferMaxBytes = 64 * 1024;
const lastMessageMs = 1_000; // by then the last message has left, or never will

/**
 * Peer connection with perfect negotiation (W3C WebRTC §10). The impolite side makes the first offer. Its audio and
 * video sections exist from the start, so tracks are later added and removed by `replaceTrack` without renegotiation.
 */
export class PeerConnection {
  readonly #pc: RTCPeerConnection;
  readonly #dataChannel: RTCDataChannel;
  readonly #isPolite: boolean;
  readonly #events: PeerConnectionEvents;
  #disclosure: AddressDisclosure;
  /** Local candidates withheld until the call is accepted. */
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

  /** Whether both session descriptions were exchanged. */
  get isNegotiated(): boolean {
    return this.#pc.currentRemoteDescription !== null;
  }

  get remoteStream(): MediaStream | undefined {
    return this.#remoteStream;
  }

  /** Whether audio packets of the other side have arrived. */
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

  /** Discloses and uses all addresses after the call was accepted, with the given configuration. */
  discloseAddresses(configuration: RTCConfiguration): void {
    const wasWithheld = this.#disclosure === "withheld";
    this.#disclosure = "all";
    for (const candidate of this.#withheldCandidates.splice(0)) this.#onCandidate(candidate);
    // Media over a relay continue until a better path is found.
    if (!wasWithheld) this.restartIce(configuration);
    else this.#enqueue(() => this.#addEarlyCandidates());
  }

  /** Restarts ICE, with new servers if given. */
  restartIce(configuration: RTCConfiguration | undefined): void {
    this.#enqueue(async () => {
      if (configuration) this.#pc.setConfiguration({ bundlePolicy: "max-bundle", ...configuration });
      this.#pc.restartIce();
      // An unanswered offer contains outdated candidates.
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
    this.#applyQuality(); // video never exceeds its size limit
    this.#enqueue(() => this.#attachTrack(kind));
  }

  setQuality(level: QualityLevel): void {
    const isSame = level.audioBitrate === this.#level?.audioBitrate && level.video === this.#level.video;
    this.#level = level;
    if (!isSame) this.#applyQuality();
    if (level.isRedundant === this.#isRedundant) return;
    this.#isRedundant = level.isRedundant;
    // The sent codec follows from the order in the remote description, so it takes a new negotiation.
    if (this.isNegotiated) this.#enqueue(() => this.#sendOffer());
  }

  /** Sends a message over the data channel. Returns false if the channel is not open or its buffer is full. */
  sendText(text: string): boolean {
    if (this.#dataChannel.readyState !== "open" || this.#dataChannel.bufferedAmount > channelBufferMaxBytes)
      return false;
    this.#dataChannel.send(text);
    return true;
  }

  /** Closes the connection. A last message is sent first, and the other side closes when it arrives. */
  close(lastMessage?: string): void {
    this.#isClosed = true;
    const end = () => this.#pc.close();
    if (lastMessage !== undefined && this.sendText(lastMessage)) {
      this.#dataChannel.addEventListener("close", end);
      setTimeout(end, lastMessageMs);
    } else end();
  }

  /**
   * Runs negotiation steps one after another. A failed step leaves a connection that does not come up, which the
   * connection monitor notices.
   */
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
    if (this.#pc.signalingState !== "stable") return; // `negotiationneeded` fires again once the state is stable
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

  /** Takes the transceivers created by the offer (answering side). */
  #adoptTransceivers(): void {
    for (const transceiver of this.#pc.getTransceivers()) {
      const kind = transceiver.receiver.track.kind === "audio" ? "audio" : "video";
      this.#transceivers[kind] = transceiver;
      transceiver.direction = "sendrecv";
      transceiver.sender.setStreams?.(this.#localStream); // tracks of one stream are played in sync
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
      const level = this.#level;
      const { audio, video } = this.#transceivers;
      if (!level || !this.isNegotiated) return;
      if (audio) await setEncoding(audio.sender, { maxBitrate: level.audioBitrate });
      if (video) await setEncoding(video.sender, createVideoEncoding(level, this.#tracks.video));
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
      // The candidate belongs to a rolled-back offer or to an earlier generation.
    }
  }
}
