import type { CallSyncPort } from "#calls/sync-port.ts";
import { TabLock } from "#calls/tab-lock.ts";
import type { Call, DeviceId } from "#contract/calls/call.ts";
import type { LocalCall } from "#contract/calls/local-call.ts";
import type { Uuid } from "#contract/ids.ts";
import { asSyncError, isRetryableFailure } from "#sync/platform/sync-error.ts";
import type { CallRequests } from "./call-requests.ts";
import { publishCallEnd, withLocalTimes } from "./call-result.ts";
import type { CallStatePort } from "./call-state-port.ts";
import type { PendingHangups } from "./pending-hangups.ts";
import { requestWithRetry } from "./request-retry.ts";
import type { SavedCall } from "./saved-call.ts";

const lockWaitMs = 500; // another tab with a call keeps the lock for longer
const rejoinWindowMs = 20_000; // a reloaded page resumes its call only within this time
const rejoinLockWaitMs = 2_000; // the previous page may take a moment to close

/** Name of the Web Lock held by the one tab of a browser that has the person's call. */
export const toCallLockName = (me: Uuid): string => `lisolo-call-${me}`;

/**
 * Joins calls into this tab: dialling, accepting, and rejoining after a reload. One tab of a browser has the call: the
 * one in which it was dialled or accepted.
 */
export class CallJoin {
  readonly #sync: CallSyncPort;
  readonly #deviceId: DeviceId;
  readonly #hangups: PendingHangups;
  readonly #requests: CallRequests;
  readonly #port: CallStatePort;
  readonly #tabLock: TabLock;
  #isPending = false;
  /** Call that is being rejoined. */
  #rejoining: Call["call_id"] | undefined;
  /** Incremented to cancel a pending dial. */
  #generation = 0;

  constructor(
    sync: CallSyncPort,
    deviceId: DeviceId,
    hangups: PendingHangups,
    requests: CallRequests,
    port: CallStatePort,
  ) {
    this.#sync = sync;
    this.#deviceId = deviceId;
    this.#hangups = hangups;
    this.#requests = requests;
    this.#port = port;
    this.#tabLock = new TabLock(sync.platform, toCallLockName(sync.me));
  }

  /** Whether a call is being joined that the state does not show yet. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Whether the call is being rejoined, so that it need not ring. */
  isRejoining(call: Call["call_id"]): boolean {
    return this.#rejoining === call;
  }

  /** Cancels a dial that is waiting for the lock. */
  cancel(): void {
    this.#generation++;
  }

  /** Releases the lock once this tab has no call. */
  releaseLock(): void {
    if (!this.#isPending) this.#tabLock.release();
  }

  /** Dials. Shows a notice if that is not possible. */
  async dial(call: LocalCall): Promise<void> {
    const { peer } = call;
    if (this.#isPending) return;
    // With a network the connection to the server may return within moments, so dialling is tried.
    if (!this.#port.isOnline()) {
      this.#port.showNotice({ notice: "failed", error: "offline", peer });
      return;
    }
    const generation = ++this.#generation;
    const refusal = await this.#sync.findDialRefusal(peer);
    if (refusal) {
      this.#port.showNotice({ notice: "failed", error: refusal, peer, kind: call.kind });
      return;
    }
    const hasLock = await this.#acquireLock(lockWaitMs);
    const state = this.#port.getState();
    if (generation !== this.#generation) this.#tabLock.release();
    else if (!hasLock) this.#port.showNotice({ notice: "inProgress", peer });
    else if (state.phase === "ringing" && state.call.conversation === call.conversation) this.#answer(state.call);
    else this.#port.dispatch({ type: "dial", call }); // shows that a call is in progress if another one rings meanwhile
  }

  async accept(call: LocalCall): Promise<void> {
    if (this.#isPending) return;
    const hasLock = await this.#acquireLock(lockWaitMs);
    const state = this.#port.getState();
    const isStillRinging = state.phase === "ringing" && state.call.id === call.id;
    if (hasLock && isStillRinging) this.#answer(call);
    else if (hasLock) this.#tabLock.release();
    else if (isStillRinging) this.#port.showNotice({ notice: "inProgress", peer: call.peer });
  }

  /** Rejoins the call this tab had before a reload, or the call of a closed tab. */
  async rejoin(saved: SavedCall): Promise<void> {
    // A duplicated tab has a copy of the saved call, but the lock stays with the original.
    if (this.#isTooLate(saved)) this.#hangUpSaved(saved);
    else if (await this.#acquireLock(rejoinLockWaitMs)) {
      this.#isPending = true;
      this.#rejoining = saved.id;
      await this.#resumeCall(saved);
      this.#rejoining = undefined;
      this.#isPending = false;
    }
  }

  async #resumeCall(saved: SavedCall): Promise<void> {
    const { id, conversation, isCaller, since } = saved;
    const requestState = () => this.#requests.request({ type: "standing", conversation, call: id });
    try {
      const { call, over } = await requestWithRetry(this.#sync, requestState, () => !this.#isTooLate(saved));
      const ownDevice = isCaller ? call.from_device : (call.to_device ?? this.#deviceId);
      const { phase } = this.#port.getState();
      if (over) {
        publishCallEnd(this.#sync, call, over);
        return;
      }
      if (ownDevice !== this.#deviceId && ownDevice === saved.device) {
        // The browser's data were removed meanwhile, and with them its device id in the call.
        this.#hangUpSaved(saved);
        this.#port.showNotice({ notice: "error", peer: saved.peer });
        return;
      }
      if (ownDevice !== this.#deviceId || (phase !== "idle" && phase !== "ended")) return;
      this.#port.setServerCall(call);
      this.#port.dispatch({ type: "rejoin", call: withLocalTimes(this.#sync, call), isCaller, since });
      if (call.answered_at !== null) void this.#requests.sendHeartbeat(saved); // the other side may have missed it
    } catch (error) {
      if (isRetryableFailure(asSyncError(error))) this.#hangUpSaved(saved);
    }
  }

  #isTooLate({ aliveAt }: SavedCall): boolean {
    return this.#sync.platform.now() >= aliveAt + rejoinWindowMs;
  }

  #hangUpSaved({ id, conversation, since, at, device }: SavedCall): void {
    const status = since !== undefined ? "ended" : at === "connecting" ? "cancelled" : "missed";
    this.#port.markEnded(id);
    this.#hangups.add({ conversation, call: id, device, status });
  }

  /** Accepts the ringing call in this tab. */
  #answer({ id }: LocalCall): void {
    this.#sync.announceTaken(id);
    this.#port.dispatch({ type: "accept" });
  }

  async #acquireLock(waitMs: number): Promise<boolean> {
    this.#isPending = true;
    const hasLock = await this.#tabLock.acquire(waitMs);
    this.#isPending = false;
    return hasLock;
  }
}
