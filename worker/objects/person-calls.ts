import type { CallAsk, CallDeed, CallFrame, CallResult } from "../../contract/calls";
import { isRefusal, type Refusal } from "../../contract/commands";
import { type ConversationId, otherMember, type Uuid } from "../../contract/ids";
import { signalBurst, signalsPerSecond } from "../../contract/limits";
import { type CallNews, CallTable } from "./call-table";
import type { Gate } from "./gate";
import type { CallSignal, CallStanding, ConversationRpc } from "./rpc";
import type { Sockets } from "./sockets";
import { conversationOf, userChannelOf } from "./stubs";
import { TokenBucket } from "./token-bucket";

type Host = { env: Env; user: Uuid; gate: Gate; sockets: Sockets; later(work: Promise<unknown>): void };
type AskOf<T extends CallAsk["type"]> = Extract<CallAsk, { type: T }> & { conversation: ConversationId };

const frame = (payload: CallFrame["payload"]): CallFrame => ({ event: "call-system", payload });

/** What the devices hear of a change: how the call stands, or how it ended. */
const frameOf = ({ call, over }: CallNews): CallFrame => {
  if (!over) return frame({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  const { status, seconds, reason } = over;
  return frame({ event_type: status, data: { call_id: call.call_id, seconds, ...(reason ? { reason } : {}) } });
};

/** The calls of one person: what their devices ask, and what they are told. */
export class PersonCalls {
  readonly #host: Host;
  readonly #table: CallTable;
  readonly #signals = new TokenBucket(signalBurst, signalsPerSecond);

  constructor(sql: SqlStorage, host: Host) {
    this.#host = host;
    this.#table = new CallTable(sql);
  }

  get open() {
    return this.#table.open;
  }

  /** Takes in how a conversation's call stands. Who talks already is busy for everybody else. */
  take(conversation: ConversationId, standing: CallStanding): void {
    const { user, sockets, later } = this.#host;
    const others = this.#table.open.filter((call) => call.conversation !== conversation);
    const news = this.#table.take(conversation, standing);
    if (!news) return;
    const { call, over } = news;
    const isRinging = !over && call.answered_at === null && call.to === user;
    if (isRinging && others.some(({ answered_at, from }) => answered_at !== null || from === user)) {
      const busy: CallDeed = { type: "end", id: call.call_id, device: user, status: "missed", reason: "busy" };
      later(this.#do(conversation, busy));
      return;
    }
    sockets.signal(frameOf(news));
  }

  async dial({ conversation, call, kind, device }: AskOf<"dial">): Promise<CallResult | Refusal> {
    const isElsewhere = this.#table.open.some(
      (open) => open.conversation !== conversation && (open.from === this.#host.user || open.answered_at !== null),
    );
    if (isElsewhere) return { error: "call_in_progress" };
    return this.#do(conversation, { type: "create", id: call, kind, device });
  }

  answer({ conversation, call, device }: AskOf<"answer">): Promise<CallResult | Refusal> {
    return this.#do(conversation, { type: "answer", id: call, device });
  }

  hangUp({ conversation, call, device, status, reason }: AskOf<"hangUp">): Promise<CallResult | Refusal> {
    return this.#do(conversation, { type: "end", id: call, device, status, ...(reason ? { reason } : {}) });
  }

  standing({ conversation, call }: AskOf<"standing">): Promise<CallResult | Refusal> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.standing(conversation, user, call));
  }

  async beat({ conversation, call }: AskOf<"beat">): Promise<{ passed: boolean } | Refusal> {
    if (!this.#isMine(conversation, call)) return { error: "call_not_found" };
    await conversationOf(this.#host.env, conversation).beat(conversation, this.#host.user, call);
    return { passed: true };
  }

  /** From channel to channel: both look whether there is such a call between the two. */
  async signal({ conversation, call, from, to, signal }: AskOf<"signal">): Promise<{ passed: boolean } | Refusal> {
    const { env, user } = this.#host;
    const other = otherMember(conversation, user);
    if (other === undefined || !this.#isMine(conversation, call)) return { error: "call_not_found" };
    if (!this.#signals.take()) return { error: "rate_limited", retryAfterMs: this.#signals.waitMs() };
    await userChannelOf(env, other).signal(other, user, { call, conversation, from, to, signal });
    return { passed: true };
  }

  /** A signal of the other person's device. */
  pass(from: Uuid, { call, conversation, from: from_device, to: to_device, signal }: CallSignal): void {
    if (otherMember(conversation, this.#host.user) !== from || !this.#isMine(conversation, call)) return;
    this.#host.sockets.signal(frame({ event_type: "signal", data: { call_id: call, from_device, to_device, signal } }));
  }

  #isMine(conversation: ConversationId, call: Uuid): boolean {
    return this.#table.find(call)?.conversation === conversation;
  }

  #do(conversation: ConversationId, deed: CallDeed): Promise<CallResult | Refusal> {
    const { user } = this.#host;
    return this.#ask(conversation, (stub) => stub.call(conversation, user, deed));
  }

  async #ask(
    conversation: ConversationId,
    ask: (stub: ConversationRpc) => Promise<CallStanding | Refusal>,
  ): Promise<CallResult | Refusal> {
    const standing = await this.#host.gate.call<CallStanding>(conversation, ask);
    if (isRefusal(standing)) return standing;
    this.take(conversation, standing);
    return { ...this.#table.read(conversation, standing), now: Date.now() };
  }
}
