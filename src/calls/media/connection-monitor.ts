/**
 * Whether the way to the other side still is one, judged by what arrives: `iceConnectionState` may never say that it
 * failed, and with wrong relay credentials `connectionState` stays `new` for ever.
 */
export type WayFacts = {
  state: RTCPeerConnectionState;
  /** Inbound packets of voice so far, of this peer connection. */
  packets: number;
  /** The other side sends its voice: something comes at least twice a second, even when it is silent. */
  isDue: boolean;
  /** The other page said that it goes, or its end of the data channel closed. */
  isGone: boolean;
  /** Both talk; before, a way is made silently and nobody waits for it. */
  isStarted: boolean;
};

/** `kick`: look at the way to the server and restart ICE. `rebuild`: make the peer connection anew. */
export type WatchDeed = "kick" | "rebuild" | "interrupted" | "mended" | "failed";

const silenceMs = 2_000;
const doubtMs = 900; // after the network changed: long enough for two packets of a silent voice
const doubtForMs = 3_000;
const addressMs = 400; // a network that came is told before its address can be gathered
const disconnectedMs = 1_000;
const settingUpMs = 6_000;
const repeatMs = 4_000;
const kicksBeforeRebuild = 3;
const giveUpMs = 60_000;
const goneGiveUpMs = 20_000; // a page that loads again is back within this

type Trouble = { since: number; silentSince: number; kicks: number; nextAt: number; isTold: boolean };

export class Watch {
  #state: RTCPeerConnectionState = "new";
  #stateSince: number;
  #packets = 0;
  #lastPacketAt: number;
  #wasDue = false;
  #doubtUntil = 0;
  #tryAnewAt = Number.POSITIVE_INFINITY;
  /** Since when something is wrong, and what was done about it. */
  #wrong: Trouble | undefined;
  #isOver = false;

  constructor(now: number) {
    this.#stateSince = now;
    this.#lastPacketAt = now;
  }

  /** The network came back, or may be another one. */
  onNetwork(isOnline: boolean, now: number): void {
    if (isOnline) this.#tryAnewAt = now + addressMs;
    else this.#doubtUntil = now + doubtForMs;
  }

  /** There is another peer connection: its counters and states begin anew, the trouble goes on. */
  onRebuilt(now: number): void {
    this.#state = "new";
    this.#stateSince = now;
    this.#packets = 0;
    this.#lastPacketAt = now;
  }

  /** How long nothing came, at the beginning of what is wrong. */
  silentMs(now: number): number {
    return this.#wrong ? now - this.#wrong.silentSince : 0;
  }

  look(facts: WayFacts, now: number): WatchDeed[] {
    if (this.#isOver) return [];
    if (facts.state !== this.#state) {
      this.#state = facts.state;
      this.#stateSince = now;
    }
    const isMore = facts.packets > this.#packets;
    this.#packets = facts.packets;
    // From the moment on which something is due it has as long as ever.
    if (isMore || facts.isDue !== this.#wasDue) this.#lastPacketAt = now;
    this.#wasDue = facts.isDue;
    const isWrong = this.#isWrong(facts, now);
    const isWell = facts.state === "connected" && (isMore || !facts.isDue);
    if (this.#wrong && !isWrong && isWell) {
      const { isTold } = this.#wrong;
      this.#wrong = undefined;
      return isTold ? ["mended"] : [];
    }
    if (now >= this.#tryAnewAt) {
      this.#tryAnewAt = Number.POSITIVE_INFINITY;
      // Whatever is under way has the address of before.
      if (this.#wrong) this.#wrong.nextAt = now;
      else return ["kick"];
    }
    // Of whom nothing is due there is no telling when it went.
    const silentSince = facts.isDue ? this.#lastPacketAt : now;
    if (isWrong) this.#wrong ??= { since: now, silentSince, kicks: 0, nextAt: now, isTold: false };
    return this.#wrong ? this.#mend(this.#wrong, facts, now) : [];
  }

  #isWrong({ state, isDue }: WayFacts, now: number): boolean {
    const inState = now - this.#stateSince;
    if (state === "failed" || state === "closed") return true;
    if (state === "disconnected") return inState >= disconnectedMs;
    if (state !== "connected") return inState >= settingUpMs;
    return isDue && now - this.#lastPacketAt >= (now < this.#doubtUntil ? doubtMs : silenceMs);
  }

  #mend(wrong: Trouble, facts: WayFacts, now: number): WatchDeed[] {
    const deeds: WatchDeed[] = [];
    if (!facts.isStarted) {
      wrong.since = now;
      wrong.silentSince = now;
      wrong.isTold = false;
    } else if (!wrong.isTold) {
      wrong.isTold = true;
      deeds.push("interrupted");
    }
    if (now - wrong.since >= (facts.isGone ? goneGiveUpMs : giveUpMs)) {
      this.#isOver = true;
      return [...deeds, "failed"];
    }
    if (now < wrong.nextAt) return deeds;
    wrong.nextAt = now + repeatMs;
    wrong.kicks++;
    const isRebuild = wrong.kicks > kicksBeforeRebuild;
    if (isRebuild) wrong.kicks = 0;
    return [...deeds, isRebuild ? "rebuild" : "kick"];
  }
}
