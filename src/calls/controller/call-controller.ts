import type { CallSyncPort } from "#calls/link.ts";
import type { MediaPreferenceChange } from "#calls/media/media-preferences.ts";
import type { CallMediaSession } from "#calls/media/media-session.ts";
import { Ringer } from "#calls/tones/ringer.ts";
import type { CallEnvironment } from "#calls/world.ts";
import type { Call, CallKind, DeviceId } from "#contract/calls/call.ts";
import {
  type CallEffect,
  type CallEvent,
  type CallState,
  type LocalCall,
  stepCall,
} from "#contract/calls/call-machine.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { CallEventHandler } from "./call-events.ts";
import { CallMedia } from "./call-media.ts";
import { CallRequests } from "./call-requests.ts";
import { CallTimers } from "./call-timers.ts";
import { CallJoin } from "./join.ts";
import { OtherTabMonitor } from "./other-tab-call.ts";
import { PendingHangups } from "./pending-hangups.ts";
import { ReconnectNudge } from "./reconnect-nudge.ts";
import { isOwned, type SavedCall, SavedCallStore } from "./saved-call.ts";

const hangUpWaitMs = 3_000; // how long somebody who signs out waits for the call's end to be told

/** The calls of one person in one tab: runs the machine, carries out what it decides, and hears what is told. */
export class TabCallController {
  /** This browser's call, where another tab has it. */
  readonly otherTab: OtherTabMonitor;
  readonly #sync: CallSyncPort;
  readonly #environment: CallEnvironment;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #savedCalls: SavedCallStore;
  readonly #media: CallMedia;
  readonly #ringer: Ringer;
  readonly #requests: CallRequests;
  readonly #join: CallJoin;
  readonly #eventHandler: CallEventHandler;
  readonly #timers: CallTimers;
  readonly #reconnectNudge: ReconnectNudge;
  #state: CallState = { at: "idle" };
  /** The call of the state as the server last told it. */
  #serverCall: Call | undefined;
  #events: CallEvent[] = [];
  #isStepping = false;
  #isStopped = false;
  #isMinimized = false;
  /** Who waits for the server to know the call of this tab. */
  #registrationWaiters: (() => void)[] = [];
  #unsubscribers: (() => void)[] = [];

  constructor(link: CallSyncPort, world: CallEnvironment, device: DeviceId) {
    this.#sync = link;
    this.#environment = world;
    this.#deviceId = device;
    const host = {
      state: () => this.#state,
      step: (event: CallEvent) => this.#step(event),
      learn: (call: Call) => {
        this.#serverCall = call;
      },
      forget: (call: Uuid) => this.#eventHandler.markEnded(call),
      say: world.showNotice,
      isOnline: world.isOnline,
      changed: () => this.#publishView(),
      // It may not reach the server, so that is told from here too; the first end counts.
      left: () => this.#step({ type: "left" }),
      call: () => this.#call,
      known: () => this.#waitUntilRegistered(),
    };
    this.#hangups = new PendingHangups(link);
    this.#reconnectNudge = new ReconnectNudge(link);
    this.#savedCalls = new SavedCallStore(world.storage, link.me);
    this.#media = new CallMedia(link, device, world, host);
    this.#ringer = new Ringer(link, world.playTone);
    this.#requests = new CallRequests(link, device, this.#hangups, host);
    this.#timers = new CallTimers(link.platform, {
      onDeadline: () => this.#step({ type: "time" }),
      onEndedShown: () => this.#step({ type: "leave" }),
      onAlive: () => this.#saveCall(),
      sendHeartbeat: (lostAt) => this.#call && void this.#requests.sendHeartbeat(this.#call, lostAt),
    });
    this.#join = new CallJoin(link, device, this.#hangups, this.#requests, host);
    this.otherTab = new OtherTabMonitor(link, device, this.#hangups, {
      ...host,
      hasCall: () => this.#call !== undefined || this.#join.isPending,
      rejoin: (kept) => this.#rejoin(kept),
    });
    this.#eventHandler = new CallEventHandler(link, device, this.#hangups, this.#requests, {
      ...host,
      media: () => this.#media.session,
      isTaking: (call) => this.#join.isRejoining(call),
      leave: () => this.#dismiss(),
    });
  }

  async start(): Promise<void> {
    await this.#hangups.load().catch(() => undefined);
    const { feed, connectionState, platform } = this.#sync;
    this.#unsubscribers = [
      feed.subscribe((told) => this.#eventHandler.handleEvent(told)),
      connectionState.subscribe(() => connectionState.get() === "online" && this.#hangups.sendNow()),
      this.#timers.followConnection(connectionState),
      platform.onLeave(() => this.#saveCall()),
      feed.activeCalls.subscribe(() => this.otherTab.update()),
    ];
    const kept = this.#savedCalls.read();
    if (kept) this.#rejoin(kept);
    this.#eventHandler.handleOpenCalls(feed.activeCalls.get());
    this.otherTab.update();
  }

  #rejoin(kept: SavedCall): void {
    this.#media.restore(kept);
    void this.#join.rejoin(kept).then(() => this.#onStepped());
    this.#publishView();
  }

  get media(): CallMediaSession | undefined {
    return this.#media.session;
  }

  dial({ conversation, peer, kind }: { conversation: ConversationId; peer: Uuid; kind: CallKind }): void {
    // Both want to talk, as when each dials before the other rings.
    if (this.#state.at === "ringing" && this.#state.call.conversation === conversation) {
      this.handleUserAction({ type: "accept" });
      return;
    }
    const call: LocalCall = { id: createUuid(this.#sync.platform.now()), conversation, peer, kind, isCaller: true };
    if (this.#call)
      this.#step({ type: "dial", call }); // says that one is under way
    else void this.#join.dial(call);
  }

  handleUserAction(event: Extract<CallEvent, { type: "accept" | "reject" | "hangUp" | "leave" }>): void {
    const ringing = this.#state.at === "ringing" ? this.#state.call : undefined;
    if (event.type === "accept") {
      if (ringing) void this.#join.accept(ringing);
      return;
    }
    if (event.type === "hangUp" && !this.#call) this.#join.cancel();
    if (ringing && event.type !== "leave") this.#sync.announceTaken(ringing.id);
    this.#step(event);
  }

  changePreference(choice: MediaPreferenceChange): void {
    if (!this.#call) return;
    this.#media.changePreference(choice, this.#call, () => this.#saveCall());
    if ("device" in choice) this.#publishView();
  }

  setMinimized(is: boolean): void {
    this.#isMinimized = is && this.#call !== undefined;
    this.#publishView();
  }

  /** Whether this browser is in a call, in whichever of its tabs. */
  get isInCall(): boolean {
    return isOwned(this.#state) || this.otherTab.calls.length > 0;
  }

  /**
   * Whoever signs out ends their call, also one of another tab of this browser; resolves when the server knows, or could
   * not be told for a while.
   */
  async endCalls(): Promise<void> {
    this.#hangUp();
    this.otherTab.hangUp();
    await this.#waitUntilReported();
  }

  #hangUp(): void {
    if (isOwned(this.#state)) this.#step({ type: "hangUp" });
    this.#dismiss();
  }

  async #waitUntilReported(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#sync.platform.startTimer(hangUpWaitMs, resolve);
      void this.#hangups.waitUntilSent().then(() => {
        cancel();
        resolve();
      });
    });
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#hangUp();
    const ended = this.#waitUntilReported();
    this.#isStopped = true;
    for (const end of this.#unsubscribers) end();
    this.#timers.stop();
    this.otherTab.stop();
    this.#reconnectNudge.setActive(false);
    void ended.then(() => this.#hangups.stop());
  }

  /** The call that goes on or rings here. */
  get #call(): LocalCall | undefined {
    return this.#state.at === "idle" || this.#state.at === "ended" ? undefined : this.#state.call;
  }

  // ── the machine ──────────────────────────────────────────────────────────────────────────────────────────

  #step(event: CallEvent): void {
    if (this.#isStopped) return;
    this.#events.push(event);
    if (this.#isStepping) return; // a deed of this step led to it
    this.#isStepping = true;
    for (let next = this.#events.shift(); next; next = this.#events.shift()) {
      const { state, effects } = stepCall(this.#state, next, this.#sync.platform.now());
      this.#state = state;
      for (const deed of effects) this.#runEffect(deed, next);
    }
    this.#isStepping = false;
    this.#onStepped();
  }

  #runEffect(deed: CallEffect, event: CallEvent): void {
    const call = this.#state.at === "idle" ? undefined : this.#state.call;
    if (deed.do === "tone") this.#ringer.setTone(deed.tone, () => this.#onRingAudible());
    if (!call) return;
    switch (deed.do) {
      case "create":
        this.#requests.dial(call);
        break;
      case "answer":
        void this.#requests.answer(call);
        break;
      case "end": {
        const { do: _, ...how } = deed;
        const end = { conversation: call.conversation, call: call.id, device: this.#deviceId, ...how };
        this.#hangups.add(end, this.#requests.whenDialed(call.id)); // it is not ended before it was begun
        break;
      }
      case "media":
        if (deed.media === "stop") this.#media.stop(call, event.type === "hangUp");
        // Of several tabs that ring one makes a way: the one that is heard.
        else if (deed.media === "prepare" && this.#state.at === "ringing") this.#media.resetView();
        else this.#media.runEffect(deed.media, call, this.#serverCall);
        break;
      case "say":
        this.#environment.showNotice({ notice: deed.notice, error: deed.error, peer: call.peer });
        break;
      case "ask":
        void this.#requests.checkState(call);
        break;
    }
  }

  #onRingAudible(): void {
    const told = this.#serverCall;
    if (this.#state.at !== "ringing" || !told) return;
    this.#media.runEffect("prepare", this.#state.call, told);
    this.media?.preconnect(told.from_device);
  }

  /** What follows from how it stands now. */
  #onStepped(): void {
    if (this.#isStopped && this.#call) return;
    const state = this.#state;
    if (state.at === "ended") this.#eventHandler.markEnded(state.call.id);
    if (!this.#call && !this.#join.isPending) this.#serverCall = undefined;
    if (!isOwned(state)) this.#join.releaseLock();
    if (!this.#call) this.#isMinimized = false;
    this.#environment.setUnloadGuard(state.at === "connected");
    if (state.at !== "outgoing" || state.isRegistered)
      for (const resolve of this.#registrationWaiters.splice(0)) resolve();
    this.otherTab.update();
    this.#reconnectNudge.setActive(this.#call !== undefined);
    this.#saveCall();
    this.#timers.update(state, isOwned(state));
    this.#publishView();
  }

  #publishView(): void {
    if (this.#isStepping) return;
    const state = this.#state;
    const isSeen = state.at !== "idle" && !this.#isStopped;
    const { view: media, preferences } = this.#media;
    this.#environment.showCall(
      isSeen ? { state, media, devices: preferences.devices, isMinimized: this.#isMinimized } : undefined,
    );
  }

  /** For this tab when it is loaded anew. */
  #saveCall(): void {
    if (this.#join.isPending && !isOwned(this.#state)) return;
    const { preferences, view } = this.#media;
    const aliveAt = this.#sync.platform.now();
    this.#savedCalls.save(this.#state, { device: this.#deviceId, bytes: view.bytes, choices: preferences, aliveAt });
  }

  /** Goes without a screen that tells how it ended. */
  #dismiss(): void {
    if (this.#state.at === "ringing")
      this.#step({ type: "over", id: this.#state.call.id, status: "ended", seconds: 0 });
    if (this.#state.at === "ended") this.#step({ type: "leave" });
  }

  /** Resolves once the server knows the call of this tab. */
  #waitUntilRegistered(): Promise<void> {
    if (this.#state.at !== "outgoing" || this.#state.isRegistered) return Promise.resolve();
    return new Promise((resolve) => this.#registrationWaiters.push(resolve));
  }
}
