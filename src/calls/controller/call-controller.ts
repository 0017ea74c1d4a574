import type { CallLink } from "#calls/link.ts";
import type { Choice } from "#calls/media/media-preferences.ts";
import type { MediaPlane } from "#calls/media/media-session.ts";
import { CallTones } from "#calls/tones/ringer.ts";
import type { CallWorld } from "#calls/world.ts";
import type { Call, CallKind, Device } from "#contract/calls/call.ts";
import {
  type CallDeed,
  type CallEvent,
  type CallPlace,
  type CallState,
  stepCall,
} from "#contract/calls/call-machine.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { CallEar } from "./call-events.ts";
import { CallMedia } from "./call-media.ts";
import { CallAsker } from "./call-requests.ts";
import { CallClock } from "./call-timers.ts";
import { Entering } from "./join.ts";
import { OtherTab } from "./other-tab-call.ts";
import { Ends } from "./pending-hangups.ts";
import { Way } from "./reconnect-nudge.ts";
import { CallKeeper, isOwned, type KeptCall } from "./saved-call.ts";

const endMs = 3_000; // how long somebody who signs out waits for the call's end to be told

/** The calls of one person in one tab: runs the machine, carries out what it decides, and hears what is told. */
export class CallEngine {
  /** This browser's call, where another tab has it. */
  readonly otherTab: OtherTab;
  readonly #link: CallLink;
  readonly #world: CallWorld;
  readonly #device: Device;
  readonly #ends: Ends;
  readonly #keeper: CallKeeper;
  readonly #media: CallMedia;
  readonly #tones: CallTones;
  readonly #asker: CallAsker;
  readonly #entering: Entering;
  readonly #ear: CallEar;
  readonly #clock: CallClock;
  readonly #way: Way;
  #state: CallState = { at: "idle" };
  /** The call of the state as the server last told it. */
  #told: Call | undefined;
  #events: CallEvent[] = [];
  #isStepping = false;
  #isStopped = false;
  #isMinimised = false;
  /** Who waits for the server to know the call of this tab. */
  #waiting: (() => void)[] = [];
  #unsubscribe: (() => void)[] = [];

  constructor(link: CallLink, world: CallWorld, device: Device) {
    this.#link = link;
    this.#world = world;
    this.#device = device;
    const host = {
      state: () => this.#state,
      step: (event: CallEvent) => this.#step(event),
      learn: (call: Call) => {
        this.#told = call;
      },
      forget: (call: Uuid) => this.#ear.forget(call),
      say: world.say,
      isOnline: world.isOnline,
      changed: () => this.#show(),
      // It may not reach the server, so that is told from here too; the first end counts.
      left: () => this.#step({ type: "left" }),
      call: () => this.#call,
      known: () => this.#whenKnown(),
    };
    this.#ends = new Ends(link);
    this.#way = new Way(link);
    this.#keeper = new CallKeeper(world.storage, link.me);
    this.#media = new CallMedia(link, device, world, host);
    this.#tones = new CallTones(link, world.playTone);
    this.#asker = new CallAsker(link, device, this.#ends, host);
    this.#clock = new CallClock(link.platform, {
      time: () => this.#step({ type: "time" }),
      leave: () => this.#step({ type: "leave" }),
      alive: () => this.#keep(),
      beat: (lostAt) => this.#call && void this.#asker.beat(this.#call, lostAt),
    });
    this.#entering = new Entering(link, device, this.#ends, this.#asker, host);
    this.otherTab = new OtherTab(link, device, this.#ends, {
      ...host,
      hasCall: () => this.#call !== undefined || this.#entering.isUnderWay,
      rejoin: (kept) => this.#rejoin(kept),
    });
    this.#ear = new CallEar(link, device, this.#ends, this.#asker, {
      ...host,
      media: () => this.#media.plane,
      isTaking: (call) => this.#entering.isTaking(call),
      leave: () => this.#leave(),
    });
  }

  async start(): Promise<void> {
    await this.#ends.load().catch(() => undefined);
    const { news, state, platform } = this.#link;
    this.#unsubscribe = [
      news.subscribe((told) => this.#ear.hear(told)),
      state.subscribe(() => state.get() === "online" && this.#ends.hurry()),
      this.#clock.follow(state),
      platform.onLeave(() => this.#keep()),
      news.open.subscribe(() => this.otherTab.look()),
    ];
    const kept = this.#keeper.read();
    if (kept) this.#rejoin(kept);
    this.#ear.look(news.open.get());
    this.otherTab.look();
  }

  #rejoin(kept: KeptCall): void {
    this.#media.recall(kept);
    void this.#entering.rejoin(kept).then(() => this.#settle());
    this.#show();
  }

  get media(): MediaPlane | undefined {
    return this.#media.plane;
  }

  dial({ conversation, peer, kind }: { conversation: ConversationId; peer: Uuid; kind: CallKind }): void {
    // Both want to talk, as when each dials before the other rings.
    if (this.#state.at === "ringing" && this.#state.call.conversation === conversation) {
      this.act({ type: "accept" });
      return;
    }
    const call: CallPlace = { id: createUuid(this.#link.platform.now()), conversation, peer, kind, isCaller: true };
    if (this.#call)
      this.#step({ type: "dial", call }); // says that one is under way
    else void this.#entering.dial(call);
  }

  act(event: Extract<CallEvent, { type: "accept" | "reject" | "hangUp" | "leave" }>): void {
    const ringing = this.#state.at === "ringing" ? this.#state.call : undefined;
    if (event.type === "accept") {
      if (ringing) void this.#entering.accept(ringing);
      return;
    }
    if (event.type === "hangUp" && !this.#call) this.#entering.cancel();
    if (ringing && event.type !== "leave") this.#link.take(ringing.id);
    this.#step(event);
  }

  choose(choice: Choice): void {
    if (!this.#call) return;
    this.#media.choose(choice, this.#call, () => this.#keep());
    if ("device" in choice) this.#show();
  }

  setMinimised(is: boolean): void {
    this.#isMinimised = is && this.#call !== undefined;
    this.#show();
  }

  /** Whether this browser is in a call, in whichever of its tabs. */
  get isInCall(): boolean {
    return isOwned(this.#state) || this.otherTab.calls.length > 0;
  }

  /**
   * Whoever signs out ends their call, also one of another tab of this browser; resolves when the server knows, or could
   * not be told for a while.
   */
  async end(): Promise<void> {
    this.#hangUp();
    this.otherTab.hangUp();
    await this.#whenTold();
  }

  #hangUp(): void {
    if (isOwned(this.#state)) this.#step({ type: "hangUp" });
    this.#leave();
  }

  async #whenTold(): Promise<void> {
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
    this.#hangUp();
    const ended = this.#whenTold();
    this.#isStopped = true;
    for (const end of this.#unsubscribe) end();
    this.#clock.stop();
    this.otherTab.stop();
    this.#way.want(false);
    void ended.then(() => this.#ends.stop());
  }

  /** The call that goes on or rings here. */
  get #call(): CallPlace | undefined {
    return this.#state.at === "idle" || this.#state.at === "ended" ? undefined : this.#state.call;
  }

  // ── the machine ──────────────────────────────────────────────────────────────────────────────────────────

  #step(event: CallEvent): void {
    if (this.#isStopped) return;
    this.#events.push(event);
    if (this.#isStepping) return; // a deed of this step led to it
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
    if (deed.do === "tone") this.#tones.set(deed.tone, () => this.#onHeardRinging());
    if (!call) return;
    switch (deed.do) {
      case "create":
        this.#asker.create(call);
        break;
      case "answer":
        void this.#asker.answer(call);
        break;
      case "end": {
        const { do: _, ...how } = deed;
        const end = { conversation: call.conversation, call: call.id, device: this.#device, ...how };
        this.#ends.add(end, this.#asker.created(call.id)); // it is not ended before it was begun
        break;
      }
      case "media":
        if (deed.media === "stop") this.#media.stop(call, event.type === "hangUp");
        // Of several tabs that ring one makes a way: the one that is heard.
        else if (deed.media === "prepare" && this.#state.at === "ringing") this.#media.forget();
        else this.#media.do(deed.media, call, this.#told);
        break;
      case "say":
        this.#world.say({ notice: deed.notice, error: deed.error, peer: call.peer });
        break;
      case "ask":
        void this.#asker.standing(call);
        break;
    }
  }

  #onHeardRinging(): void {
    const told = this.#told;
    if (this.#state.at !== "ringing" || !told) return;
    this.#media.do("prepare", this.#state.call, told);
    this.media?.meet(told.from_device);
  }

  /** What follows from how it stands now. */
  #settle(): void {
    if (this.#isStopped && this.#call) return;
    const state = this.#state;
    if (state.at === "ended") this.#ear.forget(state.call.id);
    if (!this.#call && !this.#entering.isUnderWay) this.#told = undefined;
    if (!isOwned(state)) this.#entering.release();
    if (!this.#call) this.#isMinimised = false;
    this.#world.guard(state.at === "connected");
    if (state.at !== "outgoing" || state.isKnown) for (const resolve of this.#waiting.splice(0)) resolve();
    this.otherTab.look();
    this.#way.want(this.#call !== undefined);
    this.#keep();
    this.#clock.set(state, isOwned(state));
    this.#show();
  }

  #show(): void {
    if (this.#isStepping) return;
    const state = this.#state;
    const isSeen = state.at !== "idle" && !this.#isStopped;
    const { view: media, choices } = this.#media;
    this.#world.show(isSeen ? { state, media, devices: choices.devices, isMinimised: this.#isMinimised } : undefined);
  }

  /** For this tab when it is loaded anew. */
  #keep(): void {
    if (this.#entering.isUnderWay && !isOwned(this.#state)) return;
    const { choices, view } = this.#media;
    const aliveAt = this.#link.platform.now();
    this.#keeper.write(this.#state, { device: this.#device, bytes: view.bytes, choices, aliveAt });
  }

  /** Goes without a screen that tells how it ended. */
  #leave(): void {
    if (this.#state.at === "ringing")
      this.#step({ type: "over", id: this.#state.call.id, status: "ended", seconds: 0 });
    if (this.#state.at === "ended") this.#step({ type: "leave" });
  }

  /** Resolves once the server knows the call of this tab. */
  #whenKnown(): Promise<void> {
    if (this.#state.at !== "outgoing" || this.#state.isKnown) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
