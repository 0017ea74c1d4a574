import type { QualityLevel } from "#calls/quality/quality-ladder.ts";
import { StatsReader, type StatsSample } from "#calls/quality/stats.ts";
import {
  classifyFrame,
  hangUpText,
  leavingText,
  type MediaState,
  type SignalFrame,
  type SignalItem,
} from "#calls/signaling/messages.ts";
import { ReliableChannel } from "#calls/signaling/reliable-channel.ts";
import type { DeviceId } from "#contract/calls/call.ts";
import { ConnectionMonitor } from "./connection-monitor.ts";
import type { IceServerProvider } from "./ice-servers.ts";
import type { MediaKind } from "./media-session.ts";
import { PeerConnection } from "./peer-connection.ts";
import { PeerReports } from "./peer-reports.ts";

type DevicePeerEvents = {
  sendSignal(deviceId: DeviceId, signal: string): void;
  /** The state, the streams or what the other side reports changed. */
  changed(): void;
  connectionSuspected(): void;
  /** No media arrived for `silentMs`. */
  interrupted(silentMs: number): void;
  recovered(): void;
  failed(): void;
  /** The other side hung up. */
  peerHungUp(): void;
};

const credentialsWaitMs = 500; // how long an ICE restart waits for new relay credentials

/**
 * Connection to one device of the other person: signals and peer connections, one generation after another. A
 * generation ends when the other side begins a new one (its page was reloaded) or when ICE restarts did not help.
 */
export class DevicePeer {
  readonly deviceId: DeviceId;
  readonly #isPolite: boolean;
  readonly #iceServers: IceServerProvider;
  readonly #events: DevicePeerEvents;
  readonly #reports: PeerReports;
  readonly #monitor = new ConnectionMonitor(performance.now());
  #generation = 0;
  #peerGeneration = 0;
  #signalChannel: ReliableChannel;
  #connection: PeerConnection | undefined;
  #heldItems: SignalItem[] = [];
  #statsReader = new StatsReader();
  #localState: MediaState | undefined;
  #tracks: Record<MediaKind, MediaStreamTrack | undefined> = { audio: undefined, video: undefined };
  #level: QualityLevel | undefined;
  #isStarted = false;
  /** Whether addresses of this device may be disclosed: it called, or its person accepted. */
  #isAccepted: boolean;
  /** This page is being closed, so changes of its devices are no longer reported. */
  #isLeaving = false;
  #wasConnected = false;
  #rebuilds = 0;
  #isClosed = false;

  constructor(
    deviceId: DeviceId,
    { isPolite, isAccepted }: { isPolite: boolean; isAccepted: boolean },
    iceServers: IceServerProvider,
    events: DevicePeerEvents,
  ) {
    this.deviceId = deviceId;
    this.#isAccepted = isAccepted;
    this.#isPolite = isPolite;
    this.#iceServers = iceServers;
    this.#events = events;
    this.#reports = new PeerReports({ changed: () => events.changed(), hungUp: () => events.peerHungUp() });
    this.#signalChannel = this.#startGeneration(0);
  }

  get connectionState(): RTCPeerConnectionState {
    return this.#connection?.connectionState ?? "new";
  }
  /** Latest media state reported by the other side. */
  get peerState(): MediaState | undefined {
    return this.#reports.state;
  }
  get remoteStream(): MediaStream | undefined {
    return this.#connection?.remoteStream;
  }
  get isReceivingAudio(): boolean {
    return this.#connection?.isReceivingAudio === true;
  }
  get isPeerGone(): boolean {
    return this.#reports.isGone;
  }

  receive(frame: SignalFrame): void {
    const verdict = classifyFrame(frame, this.#generation, this.#peerGeneration);
    if (verdict === "drop") return;
    if (verdict === "renew") {
      this.#signalChannel = this.#startGeneration(frame.e);
    } else if (verdict === "rebind") {
      this.#peerGeneration = frame.e;
      this.#reports.reset();
      this.#signalChannel.rebind(frame.e);
    }
    this.#signalChannel.receive(frame);
  }

  resendSignals(): void {
    this.#signalChannel.resend();
  }

  /** Accepts the call: the other side may learn this device's addresses, unless they are hidden. */
  accept(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    if (!this.#iceServers.hidesAddress)
      this.#connection?.discloseAddresses(this.#iceServers.getConfiguration(false, true));
  }

  start(): void {
    // Without a relay no connection could be tried until now.
    if (!this.#isStarted && this.connectionState !== "connected") this.#monitor.onRebuilt(performance.now());
    this.#isStarted = true;
  }

  sendTrack(kind: MediaKind, track: MediaStreamTrack | undefined): void {
    this.#tracks[kind] = track;
    this.#connection?.sendTrack(kind, track);
  }

  setQuality(level: QualityLevel): void {
    this.#level = level;
    this.#connection?.setQuality(level);
  }

  /**
   * Sends the media state over the data channel, which costs the server nothing, or as a signal while the channel is
   * closed.
   */
  sendState(state: MediaState): void {
    if (this.#isLeaving) return;
    this.#localState = state;
    if (!this.#connection?.sendText(JSON.stringify(state))) this.#signalChannel.send({ m: state });
  }

  /** Reports that this page is being closed or reloaded. */
  announceLeaving(): void {
    this.#isLeaving = true;
    this.#connection?.sendText(leavingText);
  }

  async readStats(): Promise<StatsSample | undefined> {
    const connection = this.#connection;
    if (!connection) return undefined;
    const report = await connection.getStats();
    return connection === this.#connection ? this.#statsReader.read(report.values()) : undefined;
  }

  onNetworkChange(isCertain: boolean): void {
    this.#monitor.onNetworkChange(isCertain, performance.now());
  }

  /**
   * Checks the connection and recovers it if needed. Must be called twice a second. `packets`: audio packets received
   * so far.
   */
  checkConnection(packets: number): void {
    if (!this.#canConnect) return;
    const sample = {
      state: this.connectionState,
      packets,
      // A closed page sends no audio. Expecting it anyway makes the monitor report the interruption.
      isAudioExpected: this.#isStarted && (this.isPeerGone || this.peerState?.sound === "sent"),
      isPeerGone: this.isPeerGone,
      isStarted: this.#isStarted,
    };
    if (sample.state === "connected") this.#wasConnected = true;
    const now = performance.now();
    for (const action of this.#monitor.check(sample, now)) {
      if (this.#isClosed) return;
      if (action === "restartIce") void this.#restartIce();
      else if (action === "rebuild") this.#rebuild();
      else if (action === "interrupted") this.#events.interrupted(this.#monitor.getSilentMs(now));
      else this.#events[action]();
    }
  }

  close(isHungUp = false): void {
    this.#isClosed = true;
    this.#signalChannel.close();
    this.#connection?.close(isHungUp ? hangUpText : undefined);
    this.#connection = undefined;
  }

  /** Before the call is accepted only a relay can connect the devices; without one there is nothing to check. */
  get #canConnect(): boolean {
    return this.#isStarted || this.#iceServers.hasRelay;
  }

  async #restartIce(): Promise<void> {
    const connection = this.#connection;
    this.#events.connectionSuspected();
    // If the offer is not answered, signals were lost, and another network path would not help.
    if (!connection?.isNegotiated) {
      this.#signalChannel.resend();
      return;
    }
    await this.#iceServers.refresh(credentialsWaitMs);
    if (connection === this.#connection)
      connection.restartIce(this.#iceServers.getConfiguration(false, this.#isAccepted));
  }

  #rebuild(): void {
    this.#events.connectionSuspected();
    // A new connection needs signals. While they do not arrive, the old one is kept, since it may recover.
    if (!this.#connection?.isNegotiated || !this.#signalChannel.isAcknowledged) {
      this.#signalChannel.resend();
      return;
    }
    this.#rebuilds++;
    this.#signalChannel = this.#startGeneration(0);
  }

  /** Starts a new generation. `peerGeneration`: that of the other side, or 0 to accept whichever responds. */
  #startGeneration(peerGeneration: number): ReliableChannel {
    this.#signalChannel?.close();
    this.#connection?.close();
    this.#connection = undefined;
    this.#heldItems = [];
    this.#reports.reset();
    this.#generation = Math.max(Date.now(), this.#generation + 1);
    this.#peerGeneration = peerGeneration;
    this.#monitor.onRebuilt(performance.now());
    const generation = this.#generation;
    const channel = new ReliableChannel(generation, peerGeneration, {
      sendFrame: (frame) => this.#events.sendSignal(this.deviceId, frame),
      deliver: (item) => this.#onItem(item),
    });
    if (this.#isPolite) channel.send({ hello: 1 });
    void this.#iceServers.whenReady().then(() => {
      if (!this.#isClosed && generation === this.#generation) this.#createConnection(channel);
    });
    this.#events.changed();
    return channel;
  }

  #createConnection(channel: ReliableChannel): void {
    // A connection that never came up uses only the relay at every other attempt.
    const isRelayOnly = !this.#wasConnected && this.#rebuilds % 2 === 1;
    const disclosure = this.#iceServers.getDisclosure(this.#isAccepted);
    const isOpen = this.#isAccepted || disclosure === "withheld";
    const configuration = this.#iceServers.getConfiguration(isRelayOnly, isOpen);
    const connection = new PeerConnection(configuration, this.#isPolite, disclosure, {
      descriptionCreated: (description) => channel.send(description),
      candidateFound: (line, section, ufrag) => channel.sendCandidate(line, section, ufrag),
      channelOpened: () => {
        if (this.#localState) connection.sendText(JSON.stringify(this.#localState));
      },
      channelMessage: (text) => {
        if (connection === this.#connection) this.#reports.receiveText(text);
      },
      channelClosed: () => {
        if (connection === this.#connection) this.#reports.markGone();
      },
      changed: () => this.#events.changed(),
    });
    this.#connection = connection;
    this.#statsReader = new StatsReader();
    this.#monitor.onRebuilt(performance.now());
    connection.sendTrack("audio", this.#tracks.audio);
    connection.sendTrack("video", this.#tracks.video);
    if (this.#level) connection.setQuality(this.#level);
    for (const item of this.#heldItems.splice(0)) this.#onItem(item);
    this.#events.changed();
  }

  #onItem(item: SignalItem): void {
    if ("m" in item) this.#reports.receiveState(item.m);
    else if ("hello" in item) return;
    else if (!this.#connection) this.#heldItems.push(item);
    else if ("d" in item) this.#connection.receiveDescription(item);
    else this.#connection.addCandidates(item);
  }
}
