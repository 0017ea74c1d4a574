import type { Rung } from "#calls/quality/quality-ladder.ts";
import type { Candidates, Description } from "#calls/signaling/messages.ts";
import type { Disclosure } from "./ice-servers.ts";
import { pickCodecs, slim, toOutgoingCandidate, tuneRemote } from "./sdp.ts";
import { detachPictures, pictureEncoding, setEncoding } from "./sender-encodings.ts";

type Kind = "audio" | "video";

type PathEvents = {
  describe(description: Description): void;
  candidate(candidate: string, section: string, generation: string): void;
  /** The other's data channel is open, said something, or closed. */
  opened(): void;
  told(text: string): void;
  gone(): void;
  /** The connection's state, or that first packets of a track came. */
  changed(): void;
};

/** SPEC.md §9: more is not put into a data channel that does not get rid of what it has. */
const bufferMaxBytes = 64 * 1024;
const lastWordsMs = 1_000; // what is said last has left by then, or will not

/**
 * One peer connection from its birth to its end, by perfect negotiation (W3C WebRTC §10). The first offer is always the
 * impolite side's, and its sections of sound and picture are there from the start: whatever is sent later comes and goes
 * with `replaceTrack` alone.
 */
export class Path {
  readonly #pc: RTCPeerConnection;
  readonly #channel: RTCDataChannel;
  readonly #isPolite: boolean;
  readonly #events: PathEvents;
  #disclosure: Disclosure;
  /** Local candidates that are withheld until the call is accepted. */
  #withheld: RTCIceCandidate[] = [];
  readonly #stream = new MediaStream();
  readonly #tracks: Record<Kind, MediaStreamTrack | null> = { audio: null, video: null };
  #early: RTCIceCandidateInit[] = [];
  #transceivers: Partial<Record<Kind, RTCRtpTransceiver>> = {};
  #remote: MediaStream | undefined;
  #offers = 0;
  #rung: Rung | undefined;
  #isRedundant = false;
  #isClosed = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(configuration: RTCConfiguration, isPolite: boolean, disclosure: Disclosure, events: PathEvents) {
    this.#isPolite = isPolite;
    this.#disclosure = disclosure;
    this.#events = events;
    this.#pc = new RTCPeerConnection({ bundlePolicy: "max-bundle", ...configuration });
    this.#pc.addEventListener("icecandidate", ({ candidate }) => this.#onCandidate(candidate));
    this.#pc.addEventListener("connectionstatechange", () => this.#events.changed());
    this.#pc.addEventListener("negotiationneeded", () => {
      if (this.isNegotiated) this.#enqueue(() => this.#offer());
    });
    this.#channel = this.#pc.createDataChannel("state", { negotiated: true, id: 0, ordered: false });
    this.#channel.addEventListener("open", () => this.#events.opened());
    this.#channel.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.#events.told(data);
    });
    this.#channel.addEventListener("close", () => {
      if (!this.#isClosed) this.#events.gone();
    });
    if (!isPolite) this.#begin();
  }

  get state(): RTCPeerConnectionState {
    return this.#pc.connectionState;
  }

  /** Both sides have described themselves. */
  get isNegotiated(): boolean {
    return this.#pc.currentRemoteDescription !== null;
  }

  get remote(): MediaStream | undefined {
    return this.#remote;
  }

  /** Packets of the other side's voice have come. */
  get isHearing(): boolean {
    return this.#transceivers.audio?.receiver.track.muted === false;
  }

  stats(): Promise<RTCStatsReport> {
    return this.#pc.getStats();
  }

  describe(description: Description): void {
    this.#enqueue(() => this.#take(description));
  }

  addCandidates({ u, c }: Candidates): void {
    this.#enqueue(async () => {
      for (const [candidate, sdpMid] of c) await this.#add({ candidate, sdpMid, usernameFragment: u });
    });
  }

  /** The call was accepted here: from now on all addresses may be told and used, by the configuration given. */
  disclose(configuration: RTCConfiguration): void {
    const wasWithheld = this.#disclosure === "withheld";
    this.#disclosure = "all";
    for (const candidate of this.#withheld.splice(0)) this.#onCandidate(candidate);
    // What a relay carries meanwhile goes on until a better way is found.
    if (!wasWithheld) this.restart(configuration);
    else this.#enqueue(() => this.#addEarly());
  }

  /** Looks for another way between the two, with the newest servers if there are any. */
  restart(configuration: RTCConfiguration | undefined): void {
    this.#enqueue(async () => {
      if (configuration) this.#pc.setConfiguration({ bundlePolicy: "max-bundle", ...configuration });
      this.#pc.restartIce();
      // An offer nobody answered yet holds addresses of before.
      if (this.#pc.signalingState === "have-local-offer") await this.#pc.setLocalDescription({ type: "rollback" });
      if (this.isNegotiated || !this.#isPolite) await this.#offer();
    });
  }

  send(kind: Kind, track: MediaStreamTrack | undefined): void {
    const next = track ?? null;
    if (this.#tracks[kind] === next) return;
    this.#tracks[kind] = next;
    if (kind === "audio") {
      void this.#attach(kind);
      return;
    }
    this.#tune(); // no picture goes larger than it may
    this.#enqueue(() => this.#attach(kind));
  }

  tune(rung: Rung): void {
    const isSame = rung.audioBitrate === this.#rung?.audioBitrate && rung.video === this.#rung.video;
    this.#rung = rung;
    if (!isSame) this.#tune();
    if (rung.isRedundant === this.#isRedundant) return;
    this.#isRedundant = rung.isRedundant;
    // Which codec goes is read from the other's description when it is set: once more, then.
    if (this.isNegotiated) this.#enqueue(() => this.#offer());
  }

  /** Over the data channel; false when it is not open or full. */
  tell(text: string): boolean {
    if (this.#channel.readyState !== "open" || this.#channel.bufferedAmount > bufferMaxBytes) return false;
    this.#channel.send(text);
    return true;
  }

  /** What is said last leaves first: the other side closes when it heard it. */
  close(lastWords?: string): void {
    this.#isClosed = true;
    const end = () => this.#pc.close();
    if (lastWords !== undefined && this.tell(lastWords)) {
      this.#channel.addEventListener("close", end);
      setTimeout(end, lastWordsMs);
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

  #begin(): void {
    for (const kind of ["audio", "video"] as const) {
      const transceiver = this.#pc.addTransceiver(kind, { direction: "sendrecv", streams: [this.#stream] });
      this.#prefer(transceiver, kind);
      this.#transceivers[kind] = transceiver;
    }
    this.#adopt();
    this.#enqueue(() => this.#offer());
  }

  #prefer(transceiver: RTCRtpTransceiver, kind: Kind): void {
    const codecs = pickCodecs(kind, RTCRtpReceiver.getCapabilities(kind)?.codecs ?? []);
    if (codecs.length > 0) transceiver.setCodecPreferences?.(codecs);
  }

  async #offer(): Promise<void> {
    if (this.#pc.signalingState !== "stable") return; // it is needed still when it is stable again
    await this.#pc.setLocalDescription();
    this.#offers++;
    this.#describe("offer", this.#offers);
  }

  #describe(d: Description["d"], n: number): void {
    const sdp = this.#pc.localDescription?.sdp;
    if (sdp !== undefined) this.#events.describe({ d, n, sdp: slim(sdp) });
  }

  async #take({ d, n, sdp }: Description): Promise<void> {
    const isPending = this.#pc.signalingState === "have-local-offer";
    if (d === "answer" ? !isPending || n !== this.#offers : isPending && !this.#isPolite) return;
    const wasNegotiated = this.isNegotiated;
    await this.#pc.setRemoteDescription({ type: d, sdp: tuneRemote(sdp, { isRedundant: this.#isRedundant }) });
    await this.#addEarly();
    if (d === "offer") {
      if (this.#transceivers.audio === undefined) this.#findTransceivers();
      await this.#pc.setLocalDescription();
      this.#describe("answer", n);
    }
    if (!wasNegotiated) {
      this.#tune();
      this.#events.changed();
    }
  }

  /** The answering side takes those that the offer made. */
  #findTransceivers(): void {
    for (const transceiver of this.#pc.getTransceivers()) {
      const kind = transceiver.receiver.track.kind === "audio" ? "audio" : "video";
      this.#transceivers[kind] = transceiver;
      transceiver.direction = "sendrecv";
      transceiver.sender.setStreams?.(this.#stream); // sound and picture of one stream keep step
      void this.#attach(kind);
    }
    this.#adopt();
  }

  #adopt(): void {
    const tracks = Object.values(this.#transceivers).map(({ receiver }) => receiver.track);
    for (const track of tracks) track.addEventListener("unmute", () => this.#events.changed());
    this.#remote = new MediaStream(tracks);
    this.#events.changed();
  }

  async #attach(kind: Kind): Promise<void> {
    try {
      const sender = this.#transceivers[kind]?.sender;
      const track = this.#tracks[kind];
      if (sender && kind === "video" && track === null) await detachPictures(sender);
      else await sender?.replaceTrack(track);
    } catch (error) {
      if (!this.#isClosed) console.warn("a track could not be sent", error);
    }
  }

  #tune(): void {
    this.#enqueue(async () => {
      const rung = this.#rung;
      const { audio, video } = this.#transceivers;
      if (!rung || !this.isNegotiated) return;
      if (audio) await setEncoding(audio.sender, { maxBitrate: rung.audioBitrate });
      if (video) await setEncoding(video.sender, pictureEncoding(rung, this.#tracks.video));
    });
  }

  #onCandidate(candidate: RTCIceCandidate | null): void {
    if (!candidate?.candidate || candidate.sdpMid === null) return;
    if (this.#disclosure === "withheld") {
      this.#withheld.push(candidate);
      return;
    }
    const line = toOutgoingCandidate(candidate.candidate, this.#disclosure === "relayed");
    if (line !== undefined) this.#events.candidate(line, candidate.sdpMid, candidate.usernameFragment ?? "");
  }

  async #addEarly(): Promise<void> {
    const early = this.#early;
    this.#early = [];
    for (const candidate of early) await this.#add(candidate);
  }

  async #add(candidate: RTCIceCandidateInit): Promise<void> {
    if (!this.#pc.remoteDescription || this.#disclosure === "withheld") {
      this.#early.push(candidate);
      return;
    }
    try {
      await this.#pc.addIceCandidate(candidate);
    } catch {
      // It belongs to an offer that gave way, or to a generation that is over.
    }
  }
}
