import { createDefaultPreferences } from "#calls/media/media-preferences.ts";
import type { CallSyncPort } from "#calls/sync-port.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { LocalCall } from "#contract/calls/local-call.ts";
import { withLocalTimes } from "./call-result.ts";
import type { CallStatePort } from "./call-state-port.ts";
import { toCallLockName } from "./join.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import type { SavedCall } from "./saved-call.ts";

const pollMs = 500;
const goneMs = 1_500; // a reloaded page has usually taken its call back by then

/** Call of this browser as seen by a tab that does not have it. */
export type OtherTabCall = {
  call: LocalCall;
  /** The tab that had the call was closed. */
  isGone: boolean;
};

type OtherTabPort = Pick<CallStatePort, "getState" | "publishView"> & {
  /** Whether this tab has a call or is joining one. */
  hasCall(): boolean;

  /** Takes the call into this tab. */
  rejoin(call: SavedCall): void;
};

/** Watches the call of this browser that belongs to another tab, and whether that tab still lives. */
export class OtherTabMonitor {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #port: OtherTabPort;
  readonly #lockName: string;
  #lockFreeSince: number | undefined;
  /** Data use of the call whose tab is gone. */
  #bytes = 0;
  #cancelPoll: (() => void) | undefined;
  /** Last view, returned again while nothing changed (`useSyncExternalStore`). */
  #view: OtherTabCall | undefined;

  constructor(sync: CallSyncPort, deviceId: DeviceId, hangups: PendingHangups, port: OtherTabPort) {
    this.#sync = sync;
    this.#deviceId = deviceId;
    this.#hangups = hangups;
    this.#port = port;
    this.#lockName = toCallLockName(sync.me);
  }

  /** Active calls of this browser, in any of its tabs. */
  get calls(): Call[] {
    const state = this.#port.getState();
    const endedId = state.phase === "ended" ? state.call.id : undefined;
    const open = this.#sync.feed.activeCalls.get().filter((call) => this.isOfThisBrowser(call));
    return open.filter(({ call_id }) => call_id !== endedId && !this.#hangups.has(call_id));
  }

  /** Whether this browser is a party of the call, also if the server does not know yet that it ended. */
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

  /** Starts or stops watching, depending on whether there is such a call. */
  update(): void {
    if (!this.#call) this.stop();
    else if (!this.#cancelPoll) this.#schedulePoll();
  }

  stop(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
    this.#lockFreeSince = undefined;
  }

  /** Ends the calls of this browser in any tab; the server notifies the other tab. */
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
    this.#port.publishView();
  }

  /** Resumes the call of a closed tab in this tab, with the microphone on and the camera off. */
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
      void this.#poll().then(([isHeld, bytes]) => {
        if (!this.#cancelPoll) return; // stopped meanwhile
        this.#bytes = bytes;
        this.#lockFreeSince = isHeld ? undefined : (this.#lockFreeSince ?? platform.now());
        this.#schedulePoll();
        if (this.#view !== this.view) this.#port.publishView();
      });
    });
  }

  async #poll(): Promise<[isHeld: boolean, bytes: number]> {
    const call = this.#call;
    const isHeld = await this.#isLockHeld();
    return [isHeld, isHeld || !call ? 0 : await this.#sync.findDataUse(call.call_id)];
  }

  /** Without the Web Locks API the tab is assumed to live. */
  async #isLockHeld(): Promise<boolean> {
    const { locks } = this.#sync.platform;
    const { held = [] } = (await locks?.query().catch(() => undefined)) ?? { held: [{ name: this.#lockName }] };
    return held.some(({ name }) => name === this.#lockName);
  }
}
