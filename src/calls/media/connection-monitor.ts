/**
 * State of a peer connection at one check. It is judged by arriving packets: `iceConnectionState` may never report a
 * failure, and with wrong relay credentials `connectionState` stays `new` for ever.
 */
export type ConnectionSample = {
  state: RTCPeerConnectionState;
  /** Audio packets received so far on this peer connection. */
  packets: number;
  /** Whether the other side sends audio: packets arrive at least twice a second, even in silence. */
  isAudioExpected: boolean;
  /** The other page reported that it is closing, or its end of the data channel closed. */
  isPeerGone: boolean;
  /** Whether the call is answered. Before, the connection is made silently and nobody waits for it. */
  isStarted: boolean;
};

/**
 * Action to take. `restartIce` includes checking the connection to the server. `rebuild` creates a new peer connection.
 */
export type MonitorAction = "restartIce" | "rebuild" | "interrupted" | "recovered" | "failed";

const silenceMs = 2_000;
const suspectSilenceMs = 900; // after a network change: long enough for two packets of a silent voice
const suspectForMs = 3_000;
const gatherDelayMs = 400; // a new network is reported before its addresses can be gathered
const disconnectedMs = 1_000;
const connectTimeoutMs = 6_000;
const retryIntervalMs = 4_000;
const restartsBeforeRebuild = 3;
const giveUpMs = 60_000;
const peerGoneGiveUpMs = 20_000; // a reloaded page is back within this time

type ConnectionOutage = {
  since: number;
  silentSince: number;
  iceRestarts: number;
  nextAttemptAt: number;
  isReported: boolean;
};

export class ConnectionMonitor {
  #state: RTCPeerConnectionState = "new";
  #stateSince: number;
  #packets = 0;
  #lastPacketAt: number;
  #wasAudioExpected = false;
  #suspectUntil = 0;
  #restartAt = Number.POSITIVE_INFINITY;
  /** Current outage and the attempts to end it. */
  #outage: ConnectionOutage | undefined;
  #hasGivenUp = false;

  constructor(now: number) {
    this.#stateSince = now;
    this.#lastPacketAt = now;
  }

  /** Records that the network changed, or may have changed (`isCertain` false). */
  onNetworkChange(isCertain: boolean, now: number): void {
    if (isCertain) this.#restartAt = now + gatherDelayMs;
    else this.#suspectUntil = now + suspectForMs;
  }

  /** Records a new peer connection: its counters and states begin anew, the outage continues. */
  onRebuilt(now: number): void {
    this.#state = "new";
    this.#stateSince = now;
    this.#packets = 0;
    this.#lastPacketAt = now;
  }

  /** Milliseconds without media, counted from the beginning of the outage. */
  getSilentMs(now: number): number {
    return this.#outage ? now - this.#outage.silentSince : 0;
  }

  check(sample: ConnectionSample, now: number): MonitorAction[] {
    if (this.#hasGivenUp) return [];
    if (sample.state !== this.#state) {
      this.#state = sample.state;
      this.#stateSince = now;
    }
    const hasNewPackets = sample.packets > this.#packets;
    this.#packets = sample.packets;
    // Audio that becomes expected gets the full time to arrive.
    if (hasNewPackets || sample.isAudioExpected !== this.#wasAudioExpected) this.#lastPacketAt = now;
    this.#wasAudioExpected = sample.isAudioExpected;
    const isFailing = this.#isFailing(sample, now);
    const isConnected = sample.state === "connected" && (hasNewPackets || !sample.isAudioExpected);
    if (this.#outage && !isFailing && isConnected) {
      const { isReported } = this.#outage;
      this.#outage = undefined;
      return isReported ? ["recovered"] : [];
    }
    if (now >= this.#restartAt) {
      this.#restartAt = Number.POSITIVE_INFINITY;
      // The running attempt uses outdated addresses.
      if (this.#outage) this.#outage.nextAttemptAt = now;
      else return ["restartIce"];
    }
    // Without expected audio the time of the loss is unknown.
    const silentSince = sample.isAudioExpected ? this.#lastPacketAt : now;
    if (isFailing) this.#outage ??= { since: now, silentSince, iceRestarts: 0, nextAttemptAt: now, isReported: false };
    return this.#outage ? this.#recover(this.#outage, sample, now) : [];
  }

  #isFailing({ state, isAudioExpected }: ConnectionSample, now: number): boolean {
    const inState = now - this.#stateSince;
    if (state === "failed" || state === "closed") return true;
    if (state === "disconnected") return inState >= disconnectedMs;
    if (state !== "connected") return inState >= connectTimeoutMs;
    return isAudioExpected && now - this.#lastPacketAt >= (now < this.#suspectUntil ? suspectSilenceMs : silenceMs);
  }

  #recover(outage: ConnectionOutage, sample: ConnectionSample, now: number): MonitorAction[] {
    const actions: MonitorAction[] = [];
    if (!sample.isStarted) {
      outage.since = now;
      outage.silentSince = now;
      outage.isReported = false;
    } else if (!outage.isReported) {
      outage.isReported = true;
      actions.push("interrupted");
    }
    if (now - outage.since >= (sample.isPeerGone ? peerGoneGiveUpMs : giveUpMs)) {
      this.#hasGivenUp = true;
      return [...actions, "failed"];
    }
    if (now < outage.nextAttemptAt) return actions;
    outage.nextAttemptAt = now + retryIntervalMs;
    outage.iceRestarts++;
    const isRebuild = outage.iceRestarts > restartsBeforeRebuild;
    if (isRebuild) outage.iceRestarts = 0;
    return [...actions, isRebuild ? "rebuild" : "restartIce"];
  }
}
