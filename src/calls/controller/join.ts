import type { CallLink } from "#calls/link.ts";
import { Hold } from "#calls/tab-lock.ts";
import type { CallSaying } from "#calls/views.ts";
import type { Call, Device } from "#contract/calls/call.ts";
import type { CallEvent, CallPlace, CallState } from "#contract/calls/call-machine.ts";
import type { Uuid } from "#contract/ids.ts";
import { asSyncError, isWorthRetry } from "#sync/platform/sync-error.ts";
import type { CallAsker } from "./call-requests.ts";
import { toHere } from "./call-requests.ts";
import type { Ends } from "./pending-hangups.ts";
import { insist } from "./request-retry.ts";
import type { KeptCall } from "./saved-call.ts";

const ownMs = 500; // another tab that has a call keeps it for longer
const rejoinMs = 20_000; // within so long a page that was loaded anew takes its call up again
const rejoinOwnMs = 2_000; // the page before this one may take a moment to go

/** What the one tab of a browser holds that has a call of this person. */
export const callLockOf = (me: Uuid): string => `lisolo-call-${me}`;

export type EnteringHost = {
  state(): CallState;
  step(event: CallEvent): void;
  learn(call: Call): void;
  /** It is over for this browser, whatever the server still says. */
  forget(call: Call["call_id"]): void;
  say(saying: CallSaying): void;
  isOnline(): boolean;
};

/** How a call comes into this tab. One tab of a browser has a call: that in which it was dialled or accepted. */
export class Entering {
  readonly #link: CallLink;
  readonly #device: Device;
  readonly #ends: Ends;
  readonly #asker: CallAsker;
  readonly #host: EnteringHost;
  readonly #own: Hold;
  #isUnderWay = false;
  /** The one that comes in, where the server has it already. */
  #rejoining: Call["call_id"] | undefined;
  /** Changes when what comes in is not wanted any more. */
  #turn = 0;

  constructor(link: CallLink, device: Device, ends: Ends, asker: CallAsker, host: EnteringHost) {
    this.#link = link;
    this.#device = device;
    this.#ends = ends;
    this.#asker = asker;
    this.#host = host;
    this.#own = new Hold(link.platform, callLockOf(link.me));
  }

  /** A call is coming into this tab, which is not to be seen by the state yet. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** That call is coming in by itself: it need not ring. */
  isTaking(call: Call["call_id"]): boolean {
    return this.#rejoining === call;
  }

  /** Somebody dialled and thought better of it at once. */
  cancel(): void {
    this.#turn++;
  }

  /** This tab has no call. */
  release(): void {
    if (!this.#isUnderWay) this.#own.release();
  }

  /** Calls somebody; what hinders it is said. */
  async dial(call: CallPlace): Promise<void> {
    const { peer } = call;
    if (this.#isUnderWay) return;
    // Where the browser knows of a network the way to the server may be there again within moments: that is tried.
    if (!this.#host.isOnline()) {
      this.#host.say({ notice: "failed", error: "offline", peer });
      return;
    }
    const turn = ++this.#turn;
    const isHad = await this.#take(ownMs);
    const state = this.#host.state();
    if (turn !== this.#turn) this.#own.release();
    else if (!isHad) this.#host.say({ notice: "inProgress", peer });
    else if (state.at === "ringing" && state.call.conversation === call.conversation) this.#answer(state.call);
    else this.#host.step({ type: "dial", call }); // says so when somebody else rings meanwhile
  }

  async accept(call: CallPlace): Promise<void> {
    if (this.#isUnderWay) return;
    const isHad = await this.#take(ownMs);
    const state = this.#host.state();
    const isStill = state.at === "ringing" && state.call.id === call.id;
    if (isHad && isStill) this.#answer(call);
    else if (isHad) this.#own.release();
    else if (isStill) this.#host.say({ notice: "inProgress", peer: call.peer });
  }

  /** The call that this tab had before it was loaded anew, or that another one had which is gone. */
  async rejoin(kept: KeptCall): Promise<void> {
    // A tab that was copied has what was kept too; the call is still the other's.
    if (this.#isLate(kept)) this.#giveUp(kept);
    else if (await this.#take(rejoinOwnMs)) {
      this.#isUnderWay = true;
      this.#rejoining = kept.id;
      await this.#takeUp(kept);
      this.#rejoining = undefined;
      this.#isUnderWay = false;
    }
  }

  async #takeUp(kept: KeptCall): Promise<void> {
    const { id, conversation, isCaller, since } = kept;
    const ask = () => this.#asker.askCall({ type: "standing", conversation, call: id });
    try {
      const { call, over } = await insist(this.#link, ask, () => !this.#isLate(kept));
      const mine = isCaller ? call.from_device : (call.to_device ?? this.#device);
      const { at } = this.#host.state();
      if (over) {
        const { call_id, conversation } = call;
        this.#link.news.tell({ event_type: over.status, data: { call_id, conversation, ...over } });
        return;
      }
      if (mine !== this.#device && mine === kept.device) {
        // This browser's data were removed meanwhile, and with them the name it had in the call.
        this.#giveUp(kept);
        this.#host.say({ notice: "error", peer: kept.peer });
        return;
      }
      if (mine !== this.#device || (at !== "idle" && at !== "ended")) return;
      this.#host.learn(call);
      this.#host.step({ type: "rejoin", call: toHere(this.#link, call), isCaller, since });
      if (call.answered_at !== null) void this.#asker.beat(kept); // the other side may have missed it
    } catch (error) {
      if (isWorthRetry(asSyncError(error))) this.#giveUp(kept);
    }
  }

  #isLate({ aliveAt }: KeptCall): boolean {
    return this.#link.platform.now() >= aliveAt + rejoinMs;
  }

  #giveUp({ id, conversation, since, at, device }: KeptCall): void {
    const status = since !== undefined ? "ended" : at === "connecting" ? "cancelled" : "missed";
    this.#host.forget(id);
    this.#ends.add({ conversation, call: id, device, status });
  }

  /** What rings is taken, in this tab. */
  #answer({ id }: CallPlace): void {
    this.#link.take(id);
    this.#host.step({ type: "accept" });
  }

  async #take(waitMs: number): Promise<boolean> {
    this.#isUnderWay = true;
    const isHad = await this.#own.take(waitMs);
    this.#isUnderWay = false;
    return isHad;
  }
}
