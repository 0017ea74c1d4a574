import { type CallDeed, type CallEvent, type CallPlace, type CallState, stepCall } from "../../contract/call-machine";
import type { Call, CallAsk, CallKind, CallResult, Device } from "../../contract/calls";
import { type ConversationId, createUuid, type Uuid } from "../../contract/ids";
import { callBeatMs, callRingMs, callVerdictMs } from "../../contract/limits";
import type { CallNews } from "../sync/call-news";
import { asSyncError, isWorthRetry, type SyncError } from "../sync/sync-error";
import { Ends } from "./ends";
import { Hold } from "./hold";
import { askOnce, insist } from "./insist";
import { CallKeeper, type KeptCall } from "./kept-call";
import type { CallLink } from "./link";
import { CallMedia } from "./media";
import type { MakeMedia, MediaPlane } from "./media-plane";
import type { Tone } from "./tones";
import type { CallSaying, CallView } from "./views";

/** What the engine has of the page it runs in. */
export type CallWorld = {
  makeMedia: MakeMedia;
  playTone(tone: Tone): void;
  /** What this very tab keeps when it is loaded anew. */
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
  /** Whether leaving the page is asked about. */
  guard(isOn: boolean): void;
  isOnline(): boolean;
  isThrifty(): boolean;
  show(view: CallView | undefined): void;
  say(saying: CallSaying): void;
  /** So many bytes went both ways. */
  used(call: Uuid, bytes: number): void;
};

type CallCommand = CallAsk & { conversation: ConversationId };

const createMs = 15_000; // as long as dialling tries to reach the server
const ownMs = 500; // another tab that has a call keeps it for longer
const rejoinMs = 20_000; // within so long a page that was loaded anew takes its call up again
const rejoinOwnMs = 2_000; // the page before this one may take a moment to go
const hiddenTabMs = 300; // a tab that is looked at comes first
const aliveMs = 5_000;
const endedMs = 2_000; // how long an ended call is shown
const endMs = 3_000; // how long somebody who signs out waits for the call's end to be told
const leftMs = 120_000; // what is told of a call later than this is of another one
const unheardMax = 4;

/** The calls of one person in one tab: runs the machine and carries out what it decides. */
export class CallEngine {
  readonly #link: CallLink;
  readonly #world: CallWorld;
  readonly #device: Device;
  readonly #ends: Ends;
  readonly #keeper: CallKeeper;
  readonly #media: CallMedia;
  /** The one tab that has a call, and the one that is heard ringing. */
  readonly #own: Hold;
  readonly #ring: Hold;
  #state: CallState = { at: "idle" };
  /** The call of the state as the server last told it. */
  #told: Call | undefined;
  #events: CallEvent[] = [];
  #isStepping = false;
  /** A call is being taken into this tab. */
  #isTaking = false;
  #isStopped = false;
  #isMinimised = false;
  #isSounding = false;
  #unheard = 0;
  #creating: { id: Uuid; done: Promise<unknown> } | undefined;
  #asking: Uuid | undefined;
  /** Calls that are over for this browser, and when they were. */
  readonly #left = new Map<Uuid, number>();
  #known: (() => void)[] = [];
  #cancelTime = () => {};
  #cancelTick = () => {};
  #ticks = 0;
  #unsubscribe: (() => void)[] = [];

  constructor(link: CallLink, world: CallWorld, device: Device) {
    this.#link = link;
    this.#world = world;
    this.#device = device;
    this.#ends = new Ends(link);
    this.#keeper = new CallKeeper(world.storage, link.me);
    this.#own = new Hold(link.platform, `lisolo-call-${link.me}`);
    this.#ring = new Hold(link.platform, `lisolo-ring-${link.me}`);
    this.#media = new CallMedia(link, device, world, {
      step: (event) => this.#step(event),
      changed: () => this.#show(),
      call: () => this.#call,
      known: () => this.#whenKnown(),
    });
  }

  async start(): Promise<void> {
    await this.#ends.load().catch(() => undefined);
    const { news, state, platform } = this.#link;
    this.#unsubscribe = [
      news.subscribe((told) => this.#hear(told)),
      state.subscribe(() => state.get() === "online" && this.#ends.hurry()),
      platform.onLeave(() => this.#keeper.write(this.#state, platform.now())),
    ];
    const kept = this.#keeper.read();
    if (kept) void this.#rejoin(kept);
    for (const call of news.open.get()) this.#onCall(call);
  }

  get media(): MediaPlane | undefined {
    return this.#media.plane;
  }

  /** Calls somebody; what hinders it is said. */
  async dial({
    conversation,
    peer,
    kind,
  }: {
    conversation: ConversationId;
    peer: Uuid;
    kind: CallKind;
  }): Promise<void> {
    const { platform, state } = this.#link;
    const call: CallPlace = { id: createUuid(platform.now()), conversation, peer, kind, isCaller: true };
    if (this.#call) this.#step({ type: "dial", call }); // says that one is under way
    if (this.#call) return;
    if (this.#isTaking) return;
    if (!this.#world.isOnline() || state.get() === "offline") {
      this.#world.say({ notice: "failed", error: "offline", peer });
      return;
    }
    if (!(await this.#take())) this.#world.say({ notice: "inProgress", peer });
    else this.#step({ type: "dial", call });
  }

  act(event: Extract<CallEvent, { type: "accept" | "reject" | "hangUp" | "leave" }>): void {
    const call = this.#state.at === "ringing" ? this.#state.call : undefined;
    if (event.type === "accept") {
      if (call && !this.#isTaking) void this.#accept(call);
      return;
    }
    if (call && event.type !== "leave") this.#link.take(call.id);
    this.#step(event);
  }

  setMinimised(is: boolean): void {
    this.#isMinimised = is && this.#state.at !== "idle";
    this.#show();
  }

  /** Whoever signs out ends their call; resolves when the server knows, or could not be told for a while. */
  async end(): Promise<void> {
    const { at } = this.#state;
    if (at === "outgoing" || at === "connecting" || at === "connected") this.#step({ type: "hangUp" });
    this.#leave();
    await new Promise<void>((resolve) => {
      const cancel = this.#link.platform.after(endMs, resolve);
      void this.#ends.told().then(() => {
        cancel();
        resolve();
      });
    });
  }

  stop(): void {
    if (this.#isStopped) return;
    const ended = this.end();
    this.#isStopped = true;
    for (const end of this.#unsubscribe) end();
    this.#cancelTime();
    this.#cancelTick();
    void ended.then(() => this.#ends.stop());
  }

  /** The call that goes on or rings here. */
  get #call(): CallPlace | undefined {
    const { at } = this.#state;
    return at === "idle" || at === "ended" ? undefined : this.#state.call;
  }

  // ── what happens ─────────────────────────────────────────────────────────────────────────────────────────

  #step(event: CallEvent): void {
    if (this.#isStopped) return;
    this.#events.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#events.shift(); next; next = this.#events.shift()) {
      const { state, deeds } = stepCall(this.#state, next, this.#link.platform.now());
      this.#state = state;
      for (const deed of deeds) this.#do(deed, next);
    }
    this.#isStepping = false;
    this.#settle();
  }

  #do(deed: CallDeed, event: CallEvent): void {
    const call = this.#state.at === "idle" ? undefined : this.#state.call;
    if (deed.do === "tone") this.#tone(deed.tone);
    if (!call) return;
    switch (deed.do) {
      case "create":
        this.#creating = { id: call.id, done: this.#create(call) };
        break;
      case "answer":
        void this.#answer(call);
        break;
      case "end": {
        const { status, reason } = deed;
        const end = { conversation: call.conversation, call: call.id, device: this.#device, status };
        const before = this.#creating?.id === call.id ? this.#creating.done : undefined;
        this.#ends.add(reason ? { ...end, reason } : end, before);
        break;
      }
      case "media":
        // Of several tabs that ring one makes a way: the one that is heard.
        if (deed.media !== "prepare" || this.#state.at !== "ringing") this.#media.do(deed.media, call, this.#told);
        break;
      case "say":
        this.#world.say({
          notice: deed.notice,
          error: deed.error,
          peer: event.type === "dial" ? event.call.peer : call.peer,
        });
        break;
      case "ask":
        void this.#ask();
        break;
    }
  }

  /** What follows from how it stands now. */
  #settle(): void {
    const { platform } = this.#link;
    const state = this.#state;
    const now = platform.now();
    const isMine = state.at === "outgoing" || state.at === "connecting" || state.at === "connected";
    if (state.at === "ended") this.#left.set(state.call.id, now);
    for (const [id, at] of this.#left) if (now - at > leftMs) this.#left.delete(id);
    if (!this.#call) this.#told = undefined;
    if (!isMine && !this.#isTaking) this.#own.release();
    if (isMine || !this.#isTaking) this.#keeper.write(state, now);
    if (state.at === "idle") this.#isMinimised = false;
    this.#world.guard(state.at === "connected");
    if (state.at !== "outgoing" || state.isKnown) for (const resolve of this.#known.splice(0)) resolve();
    this.#arm();
    this.#cancelTick();
    if (isMine) this.#tick();
    this.#show();
  }

  #show(): void {
    if (this.#isStepping) return;
    const state = this.#state;
    const { view } = this.#media;
    this.#world.show(
      state.at === "idle" || this.#isStopped ? undefined : { state, media: view, isMinimised: this.#isMinimised },
    );
  }

  #arm(): void {
    const { platform } = this.#link;
    const state = this.#state;
    this.#cancelTime();
    if (state.at === "ended") {
      this.#cancelTime = platform.after(endedMs, () => this.#step({ type: "leave" }));
    } else if ("until" in state && Number.isFinite(state.until)) {
      const now = platform.now();
      const at = now < state.until || state.at === "connecting" ? state.until : state.until + callVerdictMs;
      this.#cancelTime = platform.after(Math.max(1, at - now), () => this.#step({ type: "time" }));
    }
  }

  #tick(): void {
    this.#cancelTick = this.#link.platform.after(aliveMs, () => {
      this.#keeper.write(this.#state, this.#link.platform.now());
      this.#ticks = (this.#ticks + 1) % (callBeatMs / aliveMs);
      if (this.#ticks === 0) void this.#beat();
      this.#tick();
    });
  }

  /** Goes without a screen that tells how it ended. */
  #leave(): void {
    if (this.#state.at === "ringing") this.#over(this.#state.call.id);
    if (this.#state.at === "ended") this.#step({ type: "leave" });
  }

  #over(id: Uuid): void {
    this.#step({ type: "over", id, status: "ended", seconds: 0 });
  }

  // ── a call comes into this tab ───────────────────────────────────────────────────────────────────────────

  async #take(waitMs = ownMs): Promise<boolean> {
    this.#isTaking = true;
    const isHad = await this.#own.take(waitMs);
    this.#isTaking = false;
    return isHad;
  }

  async #accept(call: CallPlace): Promise<void> {
    const isHad = await this.#take();
    const isStill = this.#state.at === "ringing" && this.#state.call.id === call.id;
    if (isHad && isStill) {
      this.#link.take(call.id);
      this.#step({ type: "accept" });
    } else if (isHad) this.#own.release();
    else if (isStill) this.#world.say({ notice: "inProgress", peer: call.peer });
  }

  /** The call that this tab had before it was loaded anew. */
  async #rejoin(kept: KeptCall): Promise<void> {
    const { platform } = this.#link;
    const { id, conversation, isCaller, since } = kept;
    const isLate = () => platform.now() >= kept.aliveAt + rejoinMs;
    const giveUp = () => {
      const status = since !== undefined ? "ended" : kept.at === "connecting" ? "cancelled" : "missed";
      this.#left.set(id, platform.now());
      this.#ends.add({ conversation, call: id, device: this.#device, status }, undefined);
    };
    // A tab that was copied has what was kept too; the call is still the other's.
    if (isLate()) giveUp();
    else if (await this.#take(rejoinOwnMs)) {
      this.#isTaking = true;
      try {
        const standing = { type: "standing", conversation, call: id } as const;
        const { call, over } = await insist(
          this.#link,
          () => this.#askCall(standing),
          () => !isLate(),
        );
        const mine = isCaller ? call.from_device : (call.to_device ?? this.#device);
        if (!over && mine === this.#device && !this.#call) {
          this.#told = call;
          this.#step({ type: "rejoin", call: this.#here(call), isCaller, since });
        }
      } catch (error) {
        if (isWorthRetry(asSyncError(error))) giveUp();
      }
      this.#isTaking = false;
    }
    this.#settle();
  }

  // ── what is asked of the server ──────────────────────────────────────────────────────────────────────────

  async #askCall(command: Extract<CallCommand, { type: "dial" | "answer" | "standing" }>): Promise<CallResult> {
    const { news, platform } = this.#link;
    const askedAt = platform.now();
    const result = await this.#link.ask(command);
    news.setClock(result.now, askedAt);
    return result;
  }

  /** Everybody here may know how a call stands. */
  #tell({ call, over }: CallResult): void {
    const { news } = this.#link;
    if (over) news.tell({ event_type: over.status, data: { call_id: call.call_id, ...over } });
    else news.tell({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  }

  async #create({ id, conversation, kind }: CallPlace): Promise<void> {
    const { platform, state } = this.#link;
    const giveUpAt = platform.now() + createMs;
    const isCurrent = () => this.#state.at === "outgoing" && this.#state.call.id === id;
    const isWanted = () =>
      isCurrent() && platform.now() < giveUpAt && this.#world.isOnline() && state.get() !== "offline";
    const device = this.#device;
    try {
      const dial = { type: "dial", conversation, call: id, kind, device } as const;
      const result = await insist(this.#link, () => this.#askCall(dial), isWanted);
      if (isCurrent() && !result.over) {
        this.#told = result.call;
        this.#step({ type: "created", call: this.#here(result.call), device });
      }
      this.#tell(result);
    } catch (error) {
      const failure = asSyncError(error);
      // The server may have it all the same.
      if (isWorthRetry(failure) && !this.#ends.has(id)) {
        this.#ends.add({ conversation, call: id, device, status: "missed", reason: "failed" }, undefined);
      }
      if (isCurrent()) this.#step({ type: "notCreated", error: errorOf(failure) });
    }
  }

  async #answer({ id, conversation }: CallPlace): Promise<void> {
    const isCurrent = () => this.#state.at === "connecting" && this.#state.call.id === id;
    const answer = { type: "answer", conversation, call: id, device: this.#device } as const;
    try {
      this.#tell(await insist(this.#link, () => this.#askCall(answer), isCurrent));
    } catch (error) {
      if (isCurrent()) this.#step({ type: "notAccepted", error: errorOf(asSyncError(error)) });
    }
  }

  /** How does it stand? Asked where news may have been lost. */
  async #ask(): Promise<void> {
    const call = this.#call;
    if (!call || this.#asking === call.id) return;
    this.#asking = call.id;
    const standing = { type: "standing", conversation: call.conversation, call: call.id } as const;
    try {
      const result = await askOnce(this.#link, () => this.#askCall(standing));
      this.#unheard = 0;
      this.#asking = undefined;
      this.#tell(result);
    } catch (error) {
      this.#asking = undefined;
      if (this.#call?.id === call.id) this.#onUnanswered(call, asSyncError(error));
    }
  }

  #onUnanswered(call: CallPlace, failure: SyncError): void {
    const state = this.#state;
    const isWaiting = state.at === "outgoing" || state.at === "ringing";
    if (!isWorthRetry(failure)) {
      this.#step({ type: "over", id: call.id, status: isWaiting ? "missed" : "ended", seconds: 0 });
      return;
    }
    if (!isWaiting || this.#link.platform.now() < state.until || ++this.#unheard < unheardMax) return;
    // By the server's own rule it is over; should it have been answered in the last moment, it ends by this.
    this.#unheard = 0;
    if (state.at === "outgoing") {
      const end = { conversation: call.conversation, call: call.id, device: this.#device };
      this.#ends.add({ ...end, status: "missed" }, undefined);
    }
    this.#step({ type: "over", id: call.id, status: "missed", seconds: 0 });
  }

  async #beat(): Promise<void> {
    const call = this.#call;
    if (!call) return;
    const beat = { type: "beat", conversation: call.conversation, call: call.id } as const;
    await askOnce(this.#link, () => this.#link.ask(beat)).catch((error: unknown) => {
      if (!isWorthRetry(asSyncError(error))) void this.#ask();
    });
  }

  /** Resolves once the server knows the call of this tab. */
  #whenKnown(): Promise<void> {
    if (this.#state.at !== "outgoing" || this.#state.isKnown) return Promise.resolve();
    return new Promise((resolve) => this.#known.push(resolve));
  }

  // ── what is told ─────────────────────────────────────────────────────────────────────────────────────────

  /** A call with its times by this device's clock. */
  #here(call: Call): Call {
    const { news } = this.#link;
    const answered_at = call.answered_at === null ? null : news.here(call.answered_at);
    return { ...call, created_at: news.here(call.created_at), answered_at };
  }

  #hear(news: CallNews): void {
    const call = this.#call;
    switch (news.event_type) {
      case "ring":
      case "answered":
        this.#onCall(news.data);
        break;
      case "signal": {
        const { call_id, from_device, to_device, signal } = news.data;
        if (call_id === call?.id && (to_device ?? this.#device) === this.#device)
          this.media?.receive(from_device, signal);
        break;
      }
      case "standing":
        this.#onStanding(news.calls);
        break;
      case "taken":
        this.#left.set(news.data.call_id, this.#link.platform.now());
        if (this.#state.at === "ringing" && call?.id === news.data.call_id) this.#leave();
        break;
      default: {
        const { call_id: id, seconds, reason } = news.data;
        this.#left.set(id, this.#link.platform.now());
        this.#step({ type: "over", id, status: news.event_type, seconds, reason });
      }
    }
  }

  /** The way to the server is there again, and these are under way. */
  #onStanding(calls: readonly Call[]): void {
    const isKnown = this.#state.at !== "outgoing" || this.#state.isKnown;
    const call = this.#call;
    if (call && isKnown && !calls.some(({ call_id }) => call_id === call.id)) void this.#ask();
    for (const told of calls) this.#onCall(told);
    this.media?.resend();
    this.#ends.hurry();
  }

  #onCall(told: Call): void {
    const state = this.#state;
    const call = this.#call;
    const device = this.#device;
    if (told.call_id === call?.id) {
      this.#told = told;
      if (told.answered_at !== null) this.#onAnswered(this.#here(told));
      return;
    }
    if (told.answered_at === null) {
      this.#onRing(told);
      return;
    }
    // The other one called at the same moment, and the server made one call of the two.
    const isCrossed = state.at === "outgoing" && state.call.conversation === told.conversation;
    if (isCrossed && told.to === this.#link.me && told.to_device === device) {
      this.#told = told;
      this.#step({ type: "created", call: this.#here(told), device });
    }
  }

  #onRing(told: Call): void {
    const { me, platform } = this.#link;
    if (told.to !== me || this.#call || this.#left.has(told.call_id) || this.#ends.has(told.call_id)) return;
    const call = this.#here(told);
    if (platform.now() >= call.created_at + callRingMs) return;
    this.#told = told;
    this.#unheard = 0;
    this.#step({ type: "ring", call });
  }

  #onAnswered(call: Call): void {
    const { at } = this.#state;
    const device = this.#device;
    if (at === "outgoing") this.#step({ type: "answered", call, device });
    else if (at === "ringing") {
      this.#step({ type: "answered", call, device });
      this.#leave();
    } else if (at === "connecting" && call.to_device === device && call.to === this.#link.me) {
      this.#step({ type: "accepted", call });
    }
  }

  // ── tones ────────────────────────────────────────────────────────────────────────────────────────────────

  #tone(tone: Tone): void {
    this.#ring.release();
    if (tone === "ringtone") {
      const { platform } = this.#link;
      platform.after(platform.isVisible() ? 0 : hiddenTabMs, () => void this.#soundRing());
    }
    const heard = tone === "ringtone" ? "none" : tone;
    if (heard !== "none" || this.#isSounding) this.#world.playTone(heard);
    this.#isSounding = heard !== "none";
  }

  /** One tab of the browser is heard, and makes a way to the caller already. */
  async #soundRing(): Promise<void> {
    const call = this.#call;
    const isRinging = () => this.#state.at === "ringing" && this.#state.call.id === call?.id && !this.#isStopped;
    if (!call || !isRinging()) return;
    if (!(await this.#ring.take())) return;
    if (!isRinging() || this.#link.platform.now() >= (this.#state as { until: number }).until) {
      this.#ring.release();
      return;
    }
    this.#world.playTone("ringtone");
    this.#isSounding = true;
    this.#media.do("prepare", call, this.#told);
    if (this.#told) this.media?.meet(this.#told.from_device);
  }
}

const errorOf = ({ code }: SyncError) => (code === "no_room" ? undefined : code);
