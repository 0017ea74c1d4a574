import type { CallSyncPort } from "#calls/link.ts";
import { createDefaultPreferences } from "#calls/media/media-preferences.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { CallState, LocalCall } from "#contract/calls/call-machine.ts";
import { withLocalTimes } from "./call-requests.ts";
import { toCallLockName } from "./join.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import type { SavedCall } from "./saved-call.ts";

const pollMs = 500;
const goneMs = 1_500; // a page that is loaded anew mostly has its call again by then

/** This browser's call, as a tab sees it that does not have it. */
export type OtherTabCall = {
  call: LocalCall;
  /** No tab has it any more: the one that had it was closed. */
  isGone: boolean;
};

export type OtherTabPort = {
  state(): CallState;
  /** This tab has a call, or one is coming into it. */
  hasCall(): boolean;
  changed(): void;
  /** It comes into this tab. */
  rejoin(call: SavedCall): void;
};

/** The call of this browser that is in another of its tabs, for as long as that tab lives, and a while longer. */
export class OtherTabMonitor {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #port: OtherTabPort;
  readonly #lockName: string;
  #lockFreeSince: number | undefined;
  /** Of the call whose tab is gone. */
  #bytes = 0;
  #cancelPoll: (() => void) | undefined;
  /** What was given last: the same again while it says the same. */
  #view: OtherTabCall | undefined;

  constructor(link: CallSyncPort, device: DeviceId, ends: PendingHangups, host: OtherTabPort) {
    this.#sync = link;
    this.#deviceId = device;
    this.#hangups = ends;
    this.#port = host;
    this.#lockName = toCallLockName(link.me);
  }

  /** Those that are under way in this browser, in whichever of its tabs. */
  get calls(): Call[] {
    const state = this.#port.state();
    const over = state.at === "ended" ? state.call.id : undefined;
    const open = this.#sync.feed.activeCalls.get().filter((call) => this.isOfThisBrowser(call));
    return open.filter(({ call_id }) => call_id !== over && !this.#hangups.has(call_id));
  }

  /** Whether this browser has a side of it, also of one whose end the server has yet to hear of. */
  isOfThisBrowser({ from_device, to_device }: Call): boolean {
    return from_device === this.#deviceId || to_device === this.#deviceId;
  }

  get view(): OtherTabCall | undefined {
    const call = this.#call;
    const isGone = this.#lockFreeSince !== undefined && this.#sync.platform.now() >= this.#lockFreeSince + goneMs;
    const before = this.#view;
    if (!call) this.#view = undefined;
    else if (before?.call.id !== call.call_id || before.isGone !== isGone)
      this.#view = { call: this.#toLocalCall(call), isGone };
    return this.#view;
  }

  /** Follows whether there is one, and whether its tab lives. */
  update(): void {
    if (!this.#call) this.stop();
    else if (!this.#cancelPoll) this.#schedulePoll();
  }

  stop(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
    this.#lockFreeSince = undefined;
  }

  /** They end, whoever has them; the server tells that tab. */
  hangUp(): void {
    for (const { call_id: call, conversation, answered_at } of this.calls) {
      this.#hangups.add({
        conversation,
        call,
        device: this.#deviceId,
        status: answered_at === null ? "missed" : "ended",
      });
    }
    this.update();
    this.#port.changed();
  }

  /** Takes up the one whose tab is gone, as if this page had had it: its person is heard, and seen when they want to be. */
  resume(): void {
    const call = this.#call;
    if (!call || !this.view?.isGone) return;
    const { answered_at } = withLocalTimes(this.#sync, call);
    this.#port.rejoin({
      me: this.#sync.me,
      device: this.#deviceId,
      ...this.#toLocalCall(call),
      at: answered_at === null ? "outgoing" : "connected",
      since: answered_at ?? undefined,
      bytes: this.#bytes,
      choices: createDefaultPreferences("audio"),
      aliveAt: this.#sync.platform.now(),
    });
  }

  get #call(): Call | undefined {
    return this.#port.hasCall() ? undefined : this.calls[0];
  }

  #toLocalCall({ call_id: id, conversation, from, to, from_device, type: kind }: Call): LocalCall {
    const isCaller = from === this.#sync.me && from_device === this.#deviceId;
    return { id, conversation, peer: isCaller ? to : from, kind, isCaller };
  }

  #schedulePoll(): void {
    const { platform } = this.#sync;
    this.#cancelPoll = platform.startTimer(pollMs, () => {
      void this.#poll().then(([has, bytes]) => {
        if (!this.#cancelPoll) return; // nobody wants to know any more
        this.#bytes = bytes;
        this.#lockFreeSince = has ? undefined : (this.#lockFreeSince ?? platform.now());
        this.#schedulePoll();
        if (this.#view !== this.view) this.#port.changed();
      });
    });
  }

  async #poll(): Promise<[has: boolean, bytes: number]> {
    const call = this.#call;
    const has = await this.#isLockHeld();
    return [has, has || !call ? 0 : await this.#sync.findDataUse(call.call_id)];
  }

  /** Where there are no locks nobody can tell. */
  async #isLockHeld(): Promise<boolean> {
    const { locks } = this.#sync.platform;
    const { held = [] } = (await locks?.query().catch(() => undefined)) ?? { held: [{ name: this.#lockName }] };
    return held.some(({ name }) => name === this.#lockName);
  }
}
