/**
 * Whether the way to the other side still is one, judged by what arrives: `iceConnectionState` may never say that it
 * failed, and with wrong relay credentials `connectionState` stays `new` for ever.
 */
export type ConnectionSample = {
  state: RTCPeerConnectionState;
  /** Inbound packets of voice so far, of this peer connection. */
  packets: number;
  /** The other side sends its voice: something comes at least twice a second, even when it is silent. */
  isAudioExpected: boolean;
  /** The other page said that it goes, or its end of the data channel closed. */
  isPeerGone: boolean;
  /** Both talk; before, a way is made silently and nobody waits for it. */
  isStarted: boolean;
};

/** `kick`: look at the way to the server and restart ICE. `rebuild`: make the peer connection anew. */
export type MonitorAction = "kick" | "rebuild" | "interrupted" | "mended" | "failed";

const silenceMs = 2_000;
const suspectSilenceMs = 900; // after the network changed: long enough for two packets of a silent voice
const suspectForMs = 3_000;
const gatherDelayMs = 400; // a network that came is told before its address can be gathered
const disconnectedMs = 1_000;
const connectTimeoutMs = 6_000;
const retryIntervalMs = 4_000;
const restartsBeforeRebuild = 3;
const giveUpMs = 60_000;
const peerGoneGiveUpMs = 20_000; // a page that loads again is back within this

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
  /** Since when something is wrong, and what was done about it. */
  #outage: ConnectionOutage | undefined;
  #hasGivenUp = false;

  constructor(now: number) {
    this.#stateSince = now;
    this.#lastPacketAt = now;
  }

  /** The network came back, or may be another one. */
  onNetwork(isOnline: boolean, now: number): void {
    if (isOnline) this.#restartAt = now + gatherDelayMs;
    else this.#suspectUntil = now + suspectForMs;
  }

  /** There is another peer connection: its counters and states begin anew, the trouble goes on. */
  onRebuilt(now: number): void {
    this.#state = "new";
    this.#stateSince = now;
    this.#packets = 0;
    this.#lastPacketAt = now;
  }

  /** How long nothing came, at the beginning of what is wrong. */
  getSilentMs(now: number): number {
    return this.#outage ? now - this.#outage.silentSince : 0;
  }

  check(facts: ConnectionSample, now: number): MonitorAction[] {
    if (this.#hasGivenUp) return [];
    if (facts.state !== this.#state) {
      this.#state = facts.state;
      this.#stateSince = now;
    }
    const isMore = facts.packets > this.#packets;
    this.#packets = facts.packets;
    // From the moment on which something is due it has as long as ever.
    if (isMore || facts.isAudioExpected !== this.#wasAudioExpected) this.#lastPacketAt = now;
    this.#wasAudioExpected = facts.isAudioExpected;
    const isWrong = this.#isFailing(facts, now);
    const isWell = facts.state === "connected" && (isMore || !facts.isAudioExpected);
    if (this.#outage && !isWrong && isWell) {
      const { isReported } = this.#outage;
      this.#outage = undefined;
      return isReported ? ["mended"] : [];
    }
    if (now >= this.#restartAt) {
      this.#restartAt = Number.POSITIVE_INFINITY;
      // Whatever is under way has the address of before.
      if (this.#outage) this.#outage.nextAttemptAt = now;
      else return ["kick"];
    }
    // Of whom nothing is due there is no telling when it went.
    const silentSince = facts.isAudioExpected ? this.#lastPacketAt : now;
    if (isWrong) this.#outage ??= { since: now, silentSince, iceRestarts: 0, nextAttemptAt: now, isReported: false };
    return this.#outage ? this.#recover(this.#outage, facts, now) : [];
  }

  #isFailing({ state, isAudioExpected }: ConnectionSample, now: number): boolean {
    const inState = now - this.#stateSince;
    if (state === "failed" || state === "closed") return true;
    if (state === "disconnected") return inState >= disconnectedMs;
    if (state !== "connected") return inState >= connectTimeoutMs;
    return isAudioExpected && now - this.#lastPacketAt >= (now < this.#suspectUntil ? suspectSilenceMs : silenceMs);
  }

  #recover(wrong: ConnectionOutage, facts: ConnectionSample, now: number): MonitorAction[] {
    const deeds: MonitorAction[] = [];
    if (!facts.isStarted) {
      wrong.since = now;
      wrong.silentSince = now;
      wrong.isReported = false;
    } else if (!wrong.isReported) {
      wrong.isReported = true;
      deeds.push("interrupted");
    }
    if (now - wrong.since >= (facts.isPeerGone ? peerGoneGiveUpMs : giveUpMs)) {
      this.#hasGivenUp = true;
      return [...deeds, "failed"];
    }
    if (now < wrong.nextAttemptAt) return deeds;
    wrong.nextAttemptAt = now + retryIntervalMs;
    wrong.iceRestarts++;
    const isRebuild = wrong.iceRestarts > restartsBeforeRebuild;
    if (isRebuild) wrong.iceRestarts = 0;
    return [...deeds, isRebuild ? "rebuild" : "kick"];
  }
}
