import type { CallLink } from "#calls/link.ts";
import type { Call, CallResult, Device } from "#contract/calls/call.ts";
import type { CallAsk } from "#contract/calls/call-commands.ts";
import type { CallEvent, CallPlace, CallState } from "#contract/calls/call-machine.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { asSyncError, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";
import type { Ends } from "./pending-hangups.ts";
import { askOnce, insist } from "./request-retry.ts";

type Changing = Extract<CallAsk & { conversation: ConversationId }, { type: "dial" | "answer" | "standing" }>;

export type AskerHost = {
  state(): CallState;
  step(event: CallEvent): void;
  /** The call of the state, as the server tells it. */
  learn(call: Call): void;
  isOnline(): boolean;
};

const createMs = 15_000; // as long as dialling tries to reach the server
const findMs = 3_500; // as long as it looks for a way there that was away before it began
const unheardMax = 2;

/** A call with its times by this device's clock. */
export const toHere = ({ news }: Pick<CallLink, "news">, call: Call): Call => {
  const answered_at = call.answered_at === null ? null : news.here(call.answered_at);
  return { ...call, created_at: news.here(call.created_at), answered_at };
};

/** What is asked of the server about the call of this tab, and what its answers mean. */
export class CallAsker {
  readonly #link: CallLink;
  readonly #device: Device;
  readonly #ends: Ends;
  readonly #host: AskerHost;
  #creating: { id: Uuid; done: Promise<unknown> } | undefined;
  #asking: Uuid | undefined;
  /** How often in a row nobody said how a call that is overdue stands. */
  #unheard = 0;

  constructor(link: CallLink, device: Device, ends: Ends, host: AskerHost) {
    this.#link = link;
    this.#device = device;
    this.#ends = ends;
    this.#host = host;
  }

  create(call: CallPlace): void {
    this.#unheard = 0;
    this.#creating = { id: call.id, done: this.#create(call) };
  }

  /** Settles once it is known whether the server has the call. */
  created(id: Uuid): Promise<unknown> | undefined {
    return this.#creating?.id === id ? this.#creating.done : undefined;
  }

  async #create({ id, conversation, kind }: CallPlace): Promise<void> {
    const { platform, state } = this.#link;
    const beganAt = platform.now();
    const giveUpAt = beganAt + createMs;
    const isCurrent = () => this.#isAt(id, "outgoing");
    let notBefore = 0;
    const isWanted = () =>
      isCurrent() &&
      notBefore < giveUpAt &&
      platform.now() < giveUpAt &&
      this.#host.isOnline() &&
      (state.get() !== "offline" || platform.now() < beganAt + findMs);
    // What is asked meanwhile may hang on for longer.
    let cancel = () => {};
    const unfound = new Promise<never>((_, reject) => {
      cancel = platform.after(findMs, () => state.get() === "offline" && reject(new SyncError("offline")));
    });
    const device = this.#device;
    try {
      const dial = { type: "dial", conversation, call: id, kind, device } as const;
      const ask = () =>
        this.askCall(dial).catch((error: unknown) => {
          notBefore = platform.now() + (asSyncError(error).retryAfterMs ?? 0);
          throw error;
        });
      if (state.get() === "offline") this.#link.look();
      const result = await Promise.race([insist(this.#link, ask, isWanted), unfound]);
      if (isCurrent() && !result.over) {
        this.#host.learn(result.call);
        this.#host.step({ type: "created", call: toHere(this.#link, result.call), device });
      }
      this.#tell(result);
    } catch (error) {
      const failure = asSyncError(error);
      // The server may have it all the same.
      if (isWorthRetry(failure) && failure.code !== "rate_limited" && !this.#ends.has(id)) {
        this.#ends.add({ conversation, call: id, device, status: "missed", reason: "failed" });
      }
      if (isCurrent()) this.#host.step({ type: "notCreated", error: errorOf(failure) });
    } finally {
      cancel();
    }
  }

  async answer({ id, conversation }: CallPlace): Promise<void> {
    const isCurrent = () => this.#isAt(id, "connecting");
    const answer = { type: "answer", conversation, call: id, device: this.#device } as const;
    try {
      this.#tell(await insist(this.#link, () => this.askCall(answer), isCurrent));
    } catch (error) {
      if (isCurrent()) this.#host.step({ type: "notAccepted", error: errorOf(asSyncError(error)) });
    }
  }

  /** How does it stand? Asked where news may have been lost. */
  async standing(call: CallPlace): Promise<void> {
    const { id, conversation } = call;
    if (this.#asking === id) return;
    this.#asking = id;
    try {
      const result = await askOnce(this.#link, () => this.askCall({ type: "standing", conversation, call: id }));
      this.#asking = undefined;
      this.#unheard = 0;
      this.#tell(result);
    } catch (error) {
      this.#asking = undefined;
      this.#onUnanswered(call, asSyncError(error));
    }
  }

  /** This side is still there, and has heard nothing of the other one since. */
  async beat(call: CallPlace, lostAt?: number): Promise<void> {
    const unheard =
      lostAt === undefined ? {} : { unheard: Math.max(0, Math.round(this.#link.platform.now() - lostAt)) };
    const { id, conversation } = call;
    const beat = { type: "beat", conversation, call: id, device: this.#device, ...unheard } as const;
    await askOnce(this.#link, () => this.#link.ask(beat)).catch((error: unknown) => {
      return isWorthRetry(asSyncError(error)) ? undefined : this.standing(call);
    });
  }

  async askCall(command: Changing): Promise<CallResult> {
    const { news, platform } = this.#link;
    const askedAt = platform.now();
    const result = await this.#link.ask(command);
    news.setClock(result.now, askedAt);
    return result;
  }

  /** Everybody here may know how a call stands. */
  #tell({ call, over }: CallResult): void {
    const { news } = this.#link;
    const { call_id, conversation } = call;
    if (over) news.tell({ event_type: over.status, data: { call_id, conversation, ...over } });
    else news.tell({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  }

  #isAt(id: Uuid, ...places: CallState["at"][]): boolean {
    const state = this.#host.state();
    return state.at !== "idle" && state.call.id === id && places.includes(state.at);
  }

  #onUnanswered({ id, conversation }: CallPlace, failure: SyncError): void {
    const state = this.#host.state();
    if (!this.#isAt(id, "outgoing", "ringing", "connecting", "connected")) return;
    const isWaiting = state.at === "outgoing" || state.at === "ringing";
    if (!isWorthRetry(failure)) {
      this.#host.step({ type: "over", id, status: isWaiting ? "missed" : "ended", seconds: 0 });
      return;
    }
    if (!isWaiting || this.#link.platform.now() < state.until || ++this.#unheard < unheardMax) return;
    // By the server's own rule it is over; should it have been answered in the last moment, it ends by this.
    this.#unheard = 0;
    if (state.at === "outgoing") this.#ends.add({ conversation, call: id, device: this.#device, status: "missed" });
    this.#host.step({ type: "over", id, status: "missed", seconds: 0 });
  }
}

const errorOf = ({ code }: SyncError) => (code === "no_room" ? undefined : code);
