import type { CallSyncPort } from "#calls/link.ts";
import { TabLock } from "#calls/tab-lock.ts";
import type { CallNotice } from "#calls/views.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { CallEvent, CallState, LocalCall } from "#contract/calls/call-machine.ts";
import type { Uuid } from "#contract/ids.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import type { CallRequests } from "./call-requests.ts";
import { withLocalTimes } from "./call-requests.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import { requestWithRetry } from "./request-retry.ts";
import type { SavedCall } from "./saved-call.ts";

const lockWaitMs = 500; // another tab that has a call keeps it for longer
const rejoinWindowMs = 20_000; // within so long a page that was loaded anew takes its call up again
const rejoinLockWaitMs = 2_000; // the page before this one may take a moment to go

/** What the one tab of a browser holds that has a call of this person. */
export const toCallLockName = (me: Uuid): string => `lisolo-call-${me}`;

export type CallJoinPort = {
  state(): CallState;
  step(event: CallEvent): void;
  learn(call: Call): void;
  /** It is over for this browser, whatever the server still says. */
  forget(call: Call["call_id"]): void;
  say(saying: CallNotice): void;
  isOnline(): boolean;
};

/** How a call comes into this tab. One tab of a browser has a call: that in which it was dialled or accepted. */
export class CallJoin {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #requests: CallRequests;
  readonly #port: CallJoinPort;
  readonly #tabLock: TabLock;
  #isPending = false;
  /** The one that comes in, where the server has it already. */
  #rejoining: Call["call_id"] | undefined;
  /** Changes when what comes in is not wanted any more. */
  #generation = 0;

  constructor(link: CallSyncPort, device: DeviceId, ends: PendingHangups, asker: CallRequests, host: CallJoinPort) {
    this.#sync = link;
    this.#deviceId = device;
    this.#hangups = ends;
    this.#requests = asker;
    this.#port = host;
    this.#tabLock = new TabLock(link.platform, toCallLockName(link.me));
  }

  /** A call is coming into this tab, which is not to be seen by the state yet. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** That call is coming in by itself: it need not ring. */
  isRejoining(call: Call["call_id"]): boolean {
    return this.#rejoining === call;
  }

  /** Somebody dialled and thought better of it at once. */
  cancel(): void {
    this.#generation++;
  }

  /** This tab has no call. */
  releaseLock(): void {
    if (!this.#isPending) this.#tabLock.release();
  }

  /** Calls somebody; what hinders it is said. */
  async dial(call: LocalCall): Promise<void> {
    const { peer } = call;
    if (this.#isPending) return;
    // Where the browser knows of a network the way to the server may be there again within moments: that is tried.
    if (!this.#port.isOnline()) {
      this.#port.say({ notice: "failed", error: "offline", peer });
      return;
    }
    const turn = ++this.#generation;
    const isHad = await this.#acquireLock(lockWaitMs);
    const state = this.#port.state();
    if (turn !== this.#generation) this.#tabLock.release();
    else if (!isHad) this.#port.say({ notice: "inProgress", peer });
    else if (state.at === "ringing" && state.call.conversation === call.conversation) this.#answer(state.call);
    else this.#port.step({ type: "dial", call }); // says so when somebody else rings meanwhile
  }

  async accept(call: LocalCall): Promise<void> {
    if (this.#isPending) return;
    const isHad = await this.#acquireLock(lockWaitMs);
    const state = this.#port.state();
    const isStill = state.at === "ringing" && state.call.id === call.id;
    if (isHad && isStill) this.#answer(call);
    else if (isHad) this.#tabLock.release();
    else if (isStill) this.#port.say({ notice: "inProgress", peer: call.peer });
  }

  /** The call that this tab had before it was loaded anew, or that another one had which is gone. */
  async rejoin(kept: SavedCall): Promise<void> {
    // A tab that was copied has what was kept too; the call is still the other's.
    if (this.#isTooLate(kept)) this.#hangUpSaved(kept);
    else if (await this.#acquireLock(rejoinLockWaitMs)) {
      this.#isPending = true;
      this.#rejoining = kept.id;
      await this.#resumeCall(kept);
      this.#rejoining = undefined;
      this.#isPending = false;
    }
  }

  async #resumeCall(kept: SavedCall): Promise<void> {
    const { id, conversation, isCaller, since } = kept;
    const ask = () => this.#requests.request({ type: "standing", conversation, call: id });
    try {
      const { call, over } = await requestWithRetry(this.#sync, ask, () => !this.#isTooLate(kept));
      const mine = isCaller ? call.from_device : (call.to_device ?? this.#deviceId);
      const { at } = this.#port.state();
      if (over) {
        const { call_id, conversation } = call;
        this.#sync.feed.publish({ event_type: over.status, data: { call_id, conversation, ...over } });
        return;
      }
      if (mine !== this.#deviceId && mine === kept.device) {
        // This browser's data were removed meanwhile, and with them the name it had in the call.
        this.#hangUpSaved(kept);
        this.#port.say({ notice: "error", peer: kept.peer });
        return;
      }
      if (mine !== this.#deviceId || (at !== "idle" && at !== "ended")) return;
      this.#port.learn(call);
      this.#port.step({ type: "rejoin", call: withLocalTimes(this.#sync, call), isCaller, since });
      if (call.answered_at !== null) void this.#requests.sendHeartbeat(kept); // the other side may have missed it
    } catch (error) {
      if (isRetryableFailure(asSyncError(error))) this.#hangUpSaved(kept);
    }
  }

  #isTooLate({ aliveAt }: SavedCall): boolean {
    return this.#sync.platform.now() >= aliveAt + rejoinWindowMs;
  }

  #hangUpSaved({ id, conversation, since, at, device }: SavedCall): void {
    const status = since !== undefined ? "ended" : at === "connecting" ? "cancelled" : "missed";
    this.#port.forget(id);
    this.#hangups.add({ conversation, call: id, device, status });
  }

  /** What rings is taken, in this tab. */
  #answer({ id }: LocalCall): void {
    this.#sync.announceTaken(id);
    this.#port.step({ type: "accept" });
  }

  async #acquireLock(waitMs: number): Promise<boolean> {
    this.#isPending = true;
    const isHad = await this.#tabLock.acquire(waitMs);
    this.#isPending = false;
    return isHad;
  }
}
