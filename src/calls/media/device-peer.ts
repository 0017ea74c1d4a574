import type { QualityLevel } from "#calls/quality/quality-ladder.ts";
import { StatsReader, type StatsSample } from "#calls/quality/stats.ts";
import {
  classifyFrame,
  hangUpText,
  leavingText,
  type MediaState,
  parseMediaState,
  type SignalFrame,
  type SignalItem,
} from "#calls/signaling/messages.ts";
import { ReliableChannel } from "#calls/signaling/reliable-channel.ts";
import type { DeviceId } from "#contract/calls/call.ts";
import { ConnectionMonitor } from "./connection-monitor.ts";
import type { IceServerProvider } from "./ice-servers.ts";
import { PeerConnection } from "./peer-connection.ts";

type DevicePeerEvents = {
  sendSignal(device: DeviceId, signal: string): void;
  /** Something of it is another way than before. */
  changed(): void;
  connectionSuspected(): void;
  /** Nothing came of it for so long. */
  interrupted(silentMs: number): void;
  mended(): void;
  failed(): void;
  /** It hung up. */
  peerHungUp(): void;
};

const credentialsWaitMs = 500; // how long a way that has to be mended waits for new credentials

/**
 * What there is to one device of the other person: signals and peer connections, one life after another. A life ends
 * when the other side begins a new one (its page was loaded again) or when mending did not help.
 */
export class DevicePeer {
  readonly deviceId: DeviceId;
  readonly #isPolite: boolean;
  readonly #iceServers: IceServerProvider;
  readonly #events: DevicePeerEvents;
  readonly #monitor = new ConnectionMonitor(performance.now());
  #generation = 0;
  #peerGeneration = 0;
  #signalChannel: ReliableChannel;
  #connection: PeerConnection | undefined;
  #heldItems: SignalItem[] = [];
  #statsReader = new StatsReader();
  #peerState: MediaState | undefined;
  #localState: MediaState | undefined;
  #tracks: Record<"audio" | "video", MediaStreamTrack | undefined> = { audio: undefined, video: undefined };
  #level: QualityLevel | undefined;
  #isStarted = false;
  /** This device's addresses may be told: it calls, or its person accepted. */
  #isAccepted: boolean;
  /** The page at the other end went, in this life of it. */
  #isPeerGone = false;
  /** This one goes: what its devices do meanwhile is nothing to tell. */
  #isLeaving = false;
  #wasConnected = false;
  #rebuilds = 0;
  #isClosed = false;

  constructor(
    device: DeviceId,
    { isPolite, isAccepted }: { isPolite: boolean; isAccepted: boolean },
    servers: IceServerProvider,
    events: DevicePeerEvents,
  ) {
    this.deviceId = device;
    this.#isAccepted = isAccepted;
    this.#isPolite = isPolite;
    this.#iceServers = servers;
    this.#events = events;
    this.#signalChannel = this.#startGeneration(0);
  }

  get connectionState(): RTCPeerConnectionState {
    return this.#connection?.connectionState ?? "new";
  }
  /** What the other side says of itself. */
  get peerState(): MediaState | undefined {
    return this.#peerState;
  }
  get remoteStream(): MediaStream | undefined {
    return this.#connection?.remoteStream;
  }
  get isReceivingAudio(): boolean {
    return this.#connection?.isReceivingAudio === true;
  }
  get isPeerGone(): boolean {
    return this.#isPeerGone;
  }

  receive(frame: SignalFrame): void {
    const verdict = classifyFrame(frame, this.#generation, this.#peerGeneration);
    if (verdict === "drop") return;
    if (verdict === "renew") {
      this.#signalChannel = this.#startGeneration(frame.e);
    } else if (verdict === "adopt") {
      this.#peerGeneration = frame.e;
      this.#peerState = undefined;
      this.#isPeerGone = false;
      this.#signalChannel.rebind(frame.e);
    }
    this.#signalChannel.receive(frame);
  }

  resendSignals(): void {
    this.#signalChannel.resend();
  }

  /** This person accepts the call: the other side may learn where they are, as far as they do not hide it. */
  accept(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    if (!this.#iceServers.hidesAddress)
      this.#connection?.discloseAddresses(this.#iceServers.getConfiguration(false, true));
  }

  start(): void {
    // Without a relay there was no way until now.
    if (!this.#isStarted && this.connectionState !== "connected") this.#monitor.onRebuilt(performance.now());
    this.#isStarted = true;
  }

  sendTrack(kind: "audio" | "video", track: MediaStreamTrack | undefined): void {
    this.#tracks[kind] = track;
    this.#connection?.sendTrack(kind, track);
  }

  setQuality(rung: QualityLevel): void {
    this.#level = rung;
    this.#connection?.setQuality(rung);
  }

  /** By the data channel, which costs the server nothing; by signals while it is not open. */
  sendState(state: MediaState): void {
    if (this.#isLeaving) return;
    this.#localState = state;
    if (!this.#connection?.sendText(JSON.stringify(state))) this.#signalChannel.send({ m: state });
  }

  /** This page goes, for good or to be loaded again. */
  announceLeaving(): void {
    this.#isLeaving = true;
    this.#connection?.sendText(leavingText);
  }

  async readStats(): Promise<StatsSample | undefined> {
    const path = this.#connection;
    if (!path) return undefined;
    const report = await path.getStats();
    return path === this.#connection ? this.#statsReader.read(report.values()) : undefined;
  }

  onNetworkChange(isOnline: boolean): void {
    this.#monitor.onNetwork(isOnline, performance.now());
  }

  /** To be called twice a second. `packets`: the voice that came so far. */
  checkConnection(packets: number): void {
    if (!this.#canConnect) return;
    const facts = {
      state: this.connectionState,
      packets,
      // From a page that went nothing comes, whatever it said of itself before.
      isAudioExpected: this.#isStarted && (this.#isPeerGone || this.#peerState?.sound === "sent"),
      isPeerGone: this.#isPeerGone,
      isStarted: this.#isStarted,
    };
    if (facts.state === "connected") this.#wasConnected = true;
    const now = performance.now();
    for (const deed of this.#monitor.check(facts, now)) {
      if (this.#isClosed) return;
      if (deed === "kick") void this.#restartIce();
      else if (deed === "rebuild") this.#rebuild();
      else if (deed === "interrupted") this.#events.interrupted(this.#monitor.getSilentMs(now));
      else this.#events[deed]();
    }
  }

  close(isHungUp = false): void {
    this.#isClosed = true;
    this.#signalChannel.close();
    this.#connection?.close(isHungUp ? hangUpText : undefined);
    this.#connection = undefined;
  }

  /** Before the call is accepted only a relay can connect the two; without one there is nothing to look after. */
  get #canConnect(): boolean {
    return this.#isStarted || this.#iceServers.hasRelay;
  }

  async #restartIce(): Promise<void> {
    const path = this.#connection;
    this.#events.connectionSuspected();
    // Who has no answer yet needs the way to the server, not another way between the two.
    if (!path?.isNegotiated) {
      this.#signalChannel.resend();
      return;
    }
    await this.#iceServers.refresh(credentialsWaitMs);
    if (path === this.#connection) path.restartIce(this.#iceServers.getConfiguration(false, this.#isAccepted));
  }

  #rebuild(): void {
    this.#events.connectionSuspected();
    // While the other side cannot be asked, the way there was may come back by itself.
    if (!this.#connection?.isNegotiated || !this.#signalChannel.isAcknowledged) {
      this.#signalChannel.resend();
      return;
    }
    this.#rebuilds++;
    this.#signalChannel = this.#startGeneration(0);
  }

  /** A new life, for a known life of the other side or for whichever answers. */
  #startGeneration(theirs: number): ReliableChannel {
    this.#signalChannel?.close();
    this.#connection?.close();
    this.#connection = undefined;
    this.#heldItems = [];
    this.#peerState = undefined;
    this.#isPeerGone = false;
    this.#generation = Math.max(Date.now(), this.#generation + 1);
    this.#peerGeneration = theirs;
    this.#monitor.onRebuilt(performance.now());
    const epoch = this.#generation;
    const box = new ReliableChannel(epoch, theirs, {
      sendFrame: (frame) => this.#events.sendSignal(this.deviceId, frame),
      deliver: (item) => this.#onItem(item),
    });
    if (this.#isPolite) box.send({ hello: 1 });
    void this.#iceServers.whenReady().then(() => {
      if (!this.#isClosed && epoch === this.#generation) this.#createConnection(box);
    });
    this.#events.changed();
    return box;
  }

  #createConnection(box: ReliableChannel): void {
    // One that never came up is tried over the relay alone, every other time.
    const isRelayOnly = !this.#wasConnected && this.#rebuilds % 2 === 1;
    const disclosure = this.#iceServers.getDisclosure(this.#isAccepted);
    const isOpen = this.#isAccepted || disclosure === "withheld";
    const configuration = this.#iceServers.getConfiguration(isRelayOnly, isOpen);
    const path = new PeerConnection(configuration, this.#isPolite, disclosure, {
      descriptionCreated: (description) => box.send(description),
      candidateFound: (line, section, generation) => box.sendCandidate(line, section, generation),
      channelOpened: () => {
        if (this.#localState) path.sendText(JSON.stringify(this.#localState));
      },
      channelMessage: (text) => {
        if (path === this.#connection) this.#onChannelMessage(text);
      },
      channelClosed: () => {
        if (path === this.#connection) this.#isPeerGone = true;
      },
      changed: () => this.#events.changed(),
    });
    this.#connection = path;
    this.#statsReader = new StatsReader();
    this.#monitor.onRebuilt(performance.now());
    path.sendTrack("audio", this.#tracks.audio);
    path.sendTrack("video", this.#tracks.video);
    if (this.#level) path.setQuality(this.#level);
    for (const item of this.#heldItems.splice(0)) this.#onItem(item);
    this.#events.changed();
  }

  #onItem(item: SignalItem): void {
    if ("m" in item) this.#onPeerState(item.m);
    else if ("hello" in item) return;
    else if (!this.#connection) this.#heldItems.push(item);
    else if ("d" in item) this.#connection.receiveDescription(item);
    else this.#connection.addCandidates(item);
  }

  #onChannelMessage(text: string): void {
    if (text === leavingText) {
      this.#isPeerGone = true;
      return;
    }
    if (text === hangUpText) {
      this.#events.peerHungUp();
      return;
    }
    const state = parseMediaState(text); // one that was under way may come after the word that the page goes
    if (state) this.#onPeerState(state);
  }

  #onPeerState(state: MediaState): void {
    if (this.#peerState && state.n <= this.#peerState.n) return;
    this.#peerState = state;
    this.#events.changed();
  }
}
