import type { Rung } from "#calls/quality/quality-ladder.ts";
import { type Sample, StatsReader } from "#calls/quality/stats.ts";
import {
  byeText,
  goneText,
  judge,
  type MediaState,
  readMediaState,
  type SignalFrame,
  type SignalItem,
} from "#calls/signaling/messages.ts";
import { SignalBox } from "#calls/signaling/reliable-channel.ts";
import type { Device } from "#contract/calls/call.ts";
import { Watch } from "./connection-monitor.ts";
import type { Servers } from "./ice-servers.ts";
import { Path } from "./peer-connection.ts";

type DeviceLinkEvents = {
  post(device: Device, signal: string): void;
  /** Something of it is another way than before. */
  changed(): void;
  suspect(): void;
  /** Nothing came of it for so long. */
  interrupted(silentMs: number): void;
  mended(): void;
  failed(): void;
  /** It hung up. */
  left(): void;
};

const freshServersMs = 500; // how long a way that has to be mended waits for new credentials

/**
 * What there is to one device of the other person: signals and peer connections, one life after another. A life ends
 * when the other side begins a new one (its page was loaded again) or when mending did not help.
 */
export class DeviceLink {
  readonly device: Device;
  readonly #isPolite: boolean;
  readonly #servers: Servers;
  readonly #events: DeviceLinkEvents;
  readonly #watch = new Watch(performance.now());
  #epoch = 0;
  #theirs = 0;
  #box: SignalBox;
  #path: Path | undefined;
  #held: SignalItem[] = [];
  #stats = new StatsReader();
  #peer: MediaState | undefined;
  #mine: MediaState | undefined;
  #tracks: Record<"audio" | "video", MediaStreamTrack | undefined> = { audio: undefined, video: undefined };
  #rung: Rung | undefined;
  #isStarted = false;
  /** This device's addresses may be told: it calls, or its person accepted. */
  #isAccepted: boolean;
  /** The page at the other end went, in this life of it. */
  #isGone = false;
  /** This one goes: what its devices do meanwhile is nothing to tell. */
  #isLeaving = false;
  #wasUp = false;
  #rebuilds = 0;
  #isClosed = false;

  constructor(
    device: Device,
    { isPolite, isAccepted }: { isPolite: boolean; isAccepted: boolean },
    servers: Servers,
    events: DeviceLinkEvents,
  ) {
    this.device = device;
    this.#isAccepted = isAccepted;
    this.#isPolite = isPolite;
    this.#servers = servers;
    this.#events = events;
    this.#box = this.#begin(0);
  }

  get state(): RTCPeerConnectionState {
    return this.#path?.state ?? "new";
  }
  /** What the other side says of itself. */
  get peer(): MediaState | undefined {
    return this.#peer;
  }
  get remote(): MediaStream | undefined {
    return this.#path?.remote;
  }
  get isHearing(): boolean {
    return this.#path?.isHearing === true;
  }
  get isGone(): boolean {
    return this.#isGone;
  }

  hear(frame: SignalFrame): void {
    const verdict = judge(frame, this.#epoch, this.#theirs);
    if (verdict === "drop") return;
    if (verdict === "renew") {
      this.#box = this.#begin(frame.e);
    } else if (verdict === "adopt") {
      this.#theirs = frame.e;
      this.#peer = undefined;
      this.#isGone = false;
      this.#box.adopt(frame.e);
    }
    this.#box.hear(frame);
  }

  resend(): void {
    this.#box.resend();
  }

  /** This person accepts the call: the other side may learn where they are, as far as they do not hide it. */
  accept(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    if (!this.#servers.isHiding) this.#path?.disclose(this.#servers.configuration(false, true));
  }

  start(): void {
    // Without a relay there was no way until now.
    if (!this.#isStarted && this.state !== "connected") this.#watch.onRebuilt(performance.now());
    this.#isStarted = true;
  }

  send(kind: "audio" | "video", track: MediaStreamTrack | undefined): void {
    this.#tracks[kind] = track;
    this.#path?.send(kind, track);
  }

  tune(rung: Rung): void {
    this.#rung = rung;
    this.#path?.tune(rung);
  }

  /** By the data channel, which costs the server nothing; by signals while it is not open. */
  tell(state: MediaState): void {
    if (this.#isLeaving) return;
    this.#mine = state;
    if (!this.#path?.tell(JSON.stringify(state))) this.#box.say({ m: state });
  }

  /** This page goes, for good or to be loaded again. */
  tellGone(): void {
    this.#isLeaving = true;
    this.#path?.tell(goneText);
  }

  async sample(): Promise<Sample | undefined> {
    const path = this.#path;
    if (!path) return undefined;
    const report = await path.stats();
    return path === this.#path ? this.#stats.read(report.values()) : undefined;
  }

  onNetwork(isOnline: boolean): void {
    this.#watch.onNetwork(isOnline, performance.now());
  }

  /** To be called twice a second. `packets`: the voice that came so far. */
  look(packets: number): void {
    if (!this.#canConnect) return;
    const facts = {
      state: this.state,
      packets,
      // From a page that went nothing comes, whatever it said of itself before.
      isDue: this.#isStarted && (this.#isGone || this.#peer?.sound === "sent"),
      isGone: this.#isGone,
      isStarted: this.#isStarted,
    };
    if (facts.state === "connected") this.#wasUp = true;
    const now = performance.now();
    for (const deed of this.#watch.look(facts, now)) {
      if (this.#isClosed) return;
      if (deed === "kick") void this.#kick();
      else if (deed === "rebuild") this.#rebuild();
      else if (deed === "interrupted") this.#events.interrupted(this.#watch.silentMs(now));
      else this.#events[deed]();
    }
  }

  close(isHungUp = false): void {
    this.#isClosed = true;
    this.#box.close();
    this.#path?.close(isHungUp ? byeText : undefined);
    this.#path = undefined;
  }

  /** Before the call is accepted only a relay can connect the two; without one there is nothing to look after. */
  get #canConnect(): boolean {
    return this.#isStarted || this.#servers.hasRelay;
  }

  async #kick(): Promise<void> {
    const path = this.#path;
    this.#events.suspect();
    // Who has no answer yet needs the way to the server, not another way between the two.
    if (!path?.isNegotiated) {
      this.#box.resend();
      return;
    }
    await this.#servers.refresh(freshServersMs);
    if (path === this.#path) path.restart(this.#servers.configuration(false, this.#isAccepted));
  }

  #rebuild(): void {
    this.#events.suspect();
    // While the other side cannot be asked, the way there was may come back by itself.
    if (!this.#path?.isNegotiated || !this.#box.isConfirmed) {
      this.#box.resend();
      return;
    }
    this.#rebuilds++;
    this.#box = this.#begin(0);
  }

  /** A new life, for a known life of the other side or for whichever answers. */
  #begin(theirs: number): SignalBox {
    this.#box?.close();
    this.#path?.close();
    this.#path = undefined;
    this.#held = [];
    this.#peer = undefined;
    this.#isGone = false;
    this.#epoch = Math.max(Date.now(), this.#epoch + 1);
    this.#theirs = theirs;
    this.#watch.onRebuilt(performance.now());
    const epoch = this.#epoch;
    const box = new SignalBox(epoch, theirs, {
      post: (frame) => this.#events.post(this.device, frame),
      deliver: (item) => this.#onItem(item),
    });
    if (this.#isPolite) box.say({ hello: 1 });
    void this.#servers.ready().then(() => {
      if (!this.#isClosed && epoch === this.#epoch) this.#build(box);
    });
    this.#events.changed();
    return box;
  }

  #build(box: SignalBox): void {
    // One that never came up is tried over the relay alone, every other time.
    const isRelayOnly = !this.#wasUp && this.#rebuilds % 2 === 1;
    const disclosure = this.#servers.disclosure(this.#isAccepted);
    const isOpen = this.#isAccepted || disclosure === "withheld";
    const configuration = this.#servers.configuration(isRelayOnly, isOpen);
    const path = new Path(configuration, this.#isPolite, disclosure, {
      describe: (description) => box.say(description),
      candidate: (line, section, generation) => box.sayCandidate(line, section, generation),
      opened: () => {
        if (this.#mine) path.tell(JSON.stringify(this.#mine));
      },
      told: (text) => {
        if (path === this.#path) this.#onTold(text);
      },
      gone: () => {
        if (path === this.#path) this.#isGone = true;
      },
      changed: () => this.#events.changed(),
    });
    this.#path = path;
    this.#stats = new StatsReader();
    this.#watch.onRebuilt(performance.now());
    path.send("audio", this.#tracks.audio);
    path.send("video", this.#tracks.video);
    if (this.#rung) path.tune(this.#rung);
    for (const item of this.#held.splice(0)) this.#onItem(item);
    this.#events.changed();
  }

  #onItem(item: SignalItem): void {
    if ("m" in item) this.#onState(item.m);
    else if ("hello" in item) return;
    else if (!this.#path) this.#held.push(item);
    else if ("d" in item) this.#path.describe(item);
    else this.#path.addCandidates(item);
  }

  #onTold(text: string): void {
    if (text === goneText) {
      this.#isGone = true;
      return;
    }
    if (text === byeText) {
      this.#events.left();
      return;
    }
    const state = readMediaState(text); // one that was under way may come after the word that the page goes
    if (state) this.#onState(state);
  }

  #onState(state: MediaState): void {
    if (this.#peer && state.n <= this.#peer.n) return;
    this.#peer = state;
    this.#events.changed();
  }
}
