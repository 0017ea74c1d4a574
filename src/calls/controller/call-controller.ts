import type { CallEnvironment } from "#calls/environment.ts";
import type { MediaPreferenceChange } from "#calls/media/media-preferences.ts";
import type { CallMediaSession } from "#calls/media/media-session.ts";
import type { CallSyncPort } from "#calls/sync-port.ts";
import { Ringer } from "#calls/tones/ringer.ts";
import type { Call, CallKind, DeviceId } from "#contract/calls/call.ts";
import { stepCall } from "#contract/calls/call-machine.ts";
import type { CallEvent, CallState, LocalCall } from "#contract/calls/local-call.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { CallEffectRunner } from "./call-effects.ts";
import { CallEventHandler } from "./call-events.ts";
import { CallMedia } from "./call-media.ts";
import { CallRequests } from "./call-requests.ts";
import type { CallStatePort } from "./call-state-port.ts";
import { CallTimers } from "./call-timers.ts";
import { CallJoin } from "./join.ts";
import { OtherTabMonitor } from "./other-tab-call.ts";
import { PendingHangups } from "./pending-hangups.ts";
import { ReconnectNudge } from "./reconnect-nudge.ts";
import { isOwned, type SavedCall, SavedCallStore } from "./saved-call.ts";

const hangUpWaitMs = 3_000; // how long signing out waits for the end of the call to reach the server

/** Controller of a person's calls in one tab: feeds events to the state machine and carries out its effects. */
export class TabCallController {
  /** Call of this browser that belongs to another tab. */
  readonly otherTab: OtherTabMonitor;
  readonly #sync: CallSyncPort;
  readonly #environment: CallEnvironment;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #savedCalls: SavedCallStore;
  readonly #media: CallMedia;
  readonly #effects: CallEffectRunner;
  readonly #requests: CallRequests;
  readonly #join: CallJoin;
  readonly #eventHandler: CallEventHandler;
  readonly #timers: CallTimers;
  readonly #reconnectNudge: ReconnectNudge;
  #state: CallState = { phase: "idle" };
  /** Latest server version of the current call. */
  #serverCall: Call | undefined;
  #events: CallEvent[] = [];
  #isStepping = false;
  #isStopped = false;
  #isMinimized = false;
  /** Resolvers of `waitUntilRegistered`. */
  #registrationWaiters: (() => void)[] = [];
  #unsubscribers: (() => void)[] = [];

  constructor(sync: CallSyncPort, environment: CallEnvironment, deviceId: DeviceId) {
    this.#sync = sync;
    this.#environment = environment;
    this.#deviceId = deviceId;
    const port: CallStatePort = {
      getState: () => this.#state,
      findCall: () => this.#call,
      dispatch: (event) => this.#step(event),
      setServerCall: (call) => {
        this.#serverCall = call;
      },
      markEnded: (call) => this.#eventHandler.markEnded(call),
      waitUntilRegistered: () => this.#waitUntilRegistered(),
      isOnline: environment.isOnline,
      showNotice: environment.showNotice,
      publishView: () => this.#publishView(),
    };
    this.#hangups = new PendingHangups(sync);
    this.#reconnectNudge = new ReconnectNudge(sync);
    this.#savedCalls = new SavedCallStore(environment.storage, sync.me);
    this.#media = new CallMedia(sync, deviceId, environment, port);
    this.#requests = new CallRequests(sync, deviceId, this.#hangups, port);
    const ringer = new Ringer(sync, environment.playTone);
    this.#effects = new CallEffectRunner(
      deviceId,
      { media: this.#media, ringer, requests: this.#requests, hangups: this.#hangups },
      { ...port, getServerCall: () => this.#serverCall },
    );
    this.#timers = new CallTimers(sync.platform, {
      onDeadline: () => this.#step({ type: "timeout" }),
      onEndedShown: () => this.#step({ type: "dismiss" }),
      onAlive: () => this.#saveCall(),
      sendHeartbeat: (interruptedAt) => this.#call && void this.#requests.sendHeartbeat(this.#call, interruptedAt),
    });
    this.#join = new CallJoin(sync, deviceId, this.#hangups, this.#requests, port);
    this.otherTab = new OtherTabMonitor(sync, deviceId, this.#hangups, {
      ...port,
      hasCall: () => this.#call !== undefined || this.#join.isPending,
      rejoin: (saved) => this.#rejoin(saved),
    });
    this.#eventHandler = new CallEventHandler(sync, deviceId, this.#hangups, this.#requests, {
      ...port,
      getMedia: () => this.#media.session,
      isRejoining: (call) => this.#join.isRejoining(call),
      dismiss: () => this.#dismiss(),
    });
  }

  async start(): Promise<void> {
    await this.#hangups.load().catch(() => undefined);
    const { feed, connectionState, platform } = this.#sync;
    this.#unsubscribers = [
      feed.subscribe((event) => this.#eventHandler.handleEvent(event)),
      connectionState.subscribe(() => connectionState.get() === "online" && this.#hangups.sendNow()),
      this.#timers.followConnection(connectionState),
      platform.onLeave(() => this.#saveCall()),
      feed.activeCalls.subscribe(() => this.otherTab.update()),
    ];
    const saved = this.#savedCalls.read();
    if (saved) this.#rejoin(saved);
    this.#eventHandler.handleActiveCalls(feed.activeCalls.get());
    this.otherTab.update();
  }

  #rejoin(saved: SavedCall): void {
    this.#media.restore(saved);
    void this.#join.rejoin(saved).then(() => this.#onStepped());
    this.#publishView();
  }

  get media(): CallMediaSession | undefined {
    return this.#media.session;
  }

  dial({ conversation, peer, kind }: { conversation: ConversationId; peer: Uuid; kind: CallKind }): void {
    // Dialling somebody who is calling right now accepts their call, like glare on the server.
    if (this.#state.phase === "ringing" && this.#state.call.conversation === conversation) {
      this.handleUserAction({ type: "accept" });
      return;
    }
    const call: LocalCall = { id: createUuid(this.#sync.platform.now()), conversation, peer, kind, isCaller: true };
    if (this.#call)
      this.#step({ type: "dial", call }); // shows that a call is in progress
    else void this.#join.dial(call);
  }

  handleUserAction(event: Extract<CallEvent, { type: "accept" | "reject" | "hangUp" | "dismiss" }>): void {
    const ringing = this.#state.phase === "ringing" ? this.#state.call : undefined;
    if (event.type === "accept") {
      if (ringing) void this.#join.accept(ringing);
      return;
    }
    if (event.type === "hangUp" && !this.#call) this.#join.cancel();
    if (ringing && event.type !== "dismiss") this.#sync.announceTaken(ringing.id);
    this.#step(event);
  }

  changePreference(change: MediaPreferenceChange): void {
    if (!this.#call) return;
    this.#media.changePreference(change, this.#call, () => this.#saveCall());
    if ("device" in change) this.#publishView();
  }

  setMinimized(isMinimized: boolean): void {
    this.#isMinimized = isMinimized && this.#call !== undefined;
    this.#publishView();
  }

  /** Whether this browser is in a call, in any of its tabs. */
  get isInCall(): boolean {
    return isOwned(this.#state) || this.otherTab.calls.length > 0;
  }

  /**
   * Ends the call of this browser on sign-out, also one of another tab. Resolves when the server knows, or after
   * `hangUpWaitMs`.
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
    const reported = this.#waitUntilReported();
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribers) unsubscribe();
    this.#timers.stop();
    this.otherTab.stop();
    this.#reconnectNudge.setActive(false);
    void reported.then(() => this.#hangups.stop());
  }

  /** The call that rings or is active in this tab. */
  get #call(): LocalCall | undefined {
    return this.#state.phase === "idle" || this.#state.phase === "ended" ? undefined : this.#state.call;
  }

  // ── state machine ────────────────────────────────────────────────────────────────────────────────────────

  #step(event: CallEvent): void {
    if (this.#isStopped) return;
    this.#events.push(event);
    if (this.#isStepping) return; // an effect of the current step dispatched it
    this.#isStepping = true;
    for (let next = this.#events.shift(); next; next = this.#events.shift()) {
      const { state, effects } = stepCall(this.#state, next, this.#sync.platform.now());
      this.#state = state;
      for (const effect of effects) this.#effects.run(effect, next);
    }
    this.#isStepping = false;
    this.#onStepped();
  }

  /** Brings locks, timers, the saved call and the screen in line with the state after a step. */
  #onStepped(): void {
    if (this.#isStopped && this.#call) return;
    const state = this.#state;
    if (state.phase === "ended") this.#eventHandler.markEnded(state.call.id);
    if (!this.#call && !this.#join.isPending) this.#serverCall = undefined;
    if (!isOwned(state)) this.#join.releaseLock();
    if (!this.#call) this.#isMinimized = false;
    this.#environment.setUnloadGuard(state.phase === "connected");
    if (state.phase !== "outgoing" || state.isRegistered)
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
    const isShown = state.phase !== "idle" && !this.#isStopped;
    const { view: media, preferences } = this.#media;
    this.#environment.showCall(
      isShown ? { state, media, devices: preferences.devices, isMinimized: this.#isMinimized } : undefined,
    );
  }

  /** Saves the call for a reload of this tab. */
  #saveCall(): void {
    if (this.#join.isPending && !isOwned(this.#state)) return;
    const { preferences, view } = this.#media;
    const aliveAt = this.#sync.platform.now();
    this.#savedCalls.save(this.#state, { device: this.#deviceId, bytes: view.bytes, choices: preferences, aliveAt });
  }

  /** Ends a ringing call and removes an ended one without showing the ended screen. */
  #dismiss(): void {
    if (this.#state.phase === "ringing")
      this.#step({ type: "over", id: this.#state.call.id, status: "ended", seconds: 0 });
    if (this.#state.phase === "ended") this.#step({ type: "dismiss" });
  }

  /** Resolves once the server knows the call of this tab. */
  #waitUntilRegistered(): Promise<void> {
    if (this.#state.phase !== "outgoing" || this.#state.isRegistered) return Promise.resolve();
    return new Promise((resolve) => this.#registrationWaiters.push(resolve));
  }
}
