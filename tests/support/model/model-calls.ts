import type { Call, CallBody, CallResult } from "#contract/calls/call.ts";
import type { CallRequest } from "#contract/calls/call-commands.ts";
import type { CallCommand, LastSeen, OpenCall } from "#contract/calls/open-call.ts";
import { applyCallCommand, applyCallTimeout, hasSide, recordPeerLastSeen, toCall } from "#contract/calls/open-call.ts";
import { type ConversationId, otherMember, privateConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import type { CommandResults, Refusal } from "#contract/wire/commands.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import type { ModelBrowser } from "./model-browser.ts";
import type { VirtualTime } from "./virtual-time.ts";

export type ModelCallRequest = CallRequest & { conversation: ConversationId };
type StoredCall = OpenCall & { over: CallBody | null };
type CallConversation = { id: ConversationId; kept: StoredCall | undefined; heard: LastSeen };

/** Call server of the model: the contract's state machine, with events to everybody concerned. */
export class ModelCalls {
  readonly browsers: ModelBrowser[] = [];
  /** Call entries written to the logs. */
  readonly callEntries: CallBody[] = [];
  /** Heartbeats, and for how long the sender had heard nothing of the other side. */
  readonly heartbeats: { user: Uuid; at: number; unheard: number | undefined }[] = [];
  /** Creation time of each call, by id. */
  readonly createdAt = new Map<Uuid, number>();
  /** Whether the server receives and sends nothing. */
  isDown = false;
  readonly #conversations = new Map<ConversationId, CallConversation>();

  constructor(
    readonly time: VirtualTime,
    readonly random: () => number,
  ) {}

  connect(a: Uuid, b: Uuid): ConversationId {
    const id = privateConversationId(a, b);
    this.#conversations.set(id, { id, kept: undefined, heard: { caller: 0, callee: 0 } });
    return id;
  }

  /** Open calls of a person, as in a welcome. */
  listOpenCalls(user: Uuid): CallFeedEvent {
    const calls = [...this.#conversations.values()].flatMap((place) => {
      const isTheirs = privateMembers(place.id)?.includes(user);
      return isTheirs && place.kept && !place.kept.over ? [toCall(place.id, place.kept)] : [];
    });
    return { event_type: "standing", calls, now: this.time.now };
  }

  get open(): Call[] {
    return [...this.#conversations.values()].flatMap(({ id, kept }) => (kept && !kept.over ? [toCall(id, kept)] : []));
  }

  execute(user: Uuid, command: ModelCallRequest): CallResult | CommandResults["beat"] | Refusal {
    const { conversation, call: id } = command;
    const place = this.#conversations.get(conversation);
    const by = privateMembers(conversation)?.indexOf(user) ?? -1;
    if (!place || by < 0) return { error: "conversation_not_found" };
    switch (command.type) {
      case "dial":
        if (this.#isBusy(user, conversation)) return { error: "call_in_progress" };
        return this.#applyCommand(place, by, { type: "create", id, kind: command.kind, device: command.device });
      case "answer":
        if (this.#isBusy(user, conversation)) return { error: "call_in_progress" };
        return this.#applyCommand(place, by, { type: "answer", id, device: command.device });
      case "hangUp": {
        const { type: _, conversation: __, call: ___, ...how } = command;
        return this.#applyCommand(place, by, { type: "end", id, ...how });
      }
      case "standing":
        return place.kept?.id === id ? this.#result(place.id, place.kept) : { error: "call_not_found" };
      case "beat":
        if (place.kept?.id !== id || place.kept.over) return { error: "call_not_found" };
        if (command.device && !hasSide(place.kept, place.kept.caller === by, command.device))
          return { error: "call_not_found" };
        this.#recordSeen(place, by);
        this.#recordRing(place, place.kept, by);
        place.heard = recordPeerLastSeen(place.heard, place.kept.caller === by, this.time.now, command.unheard);
        this.heartbeats.push({ user, at: this.time.now, unheard: command.unheard });
        return { passed: true };
      case "signal": {
        if (place.kept?.id !== id || place.kept.over) return { error: "call_not_found" };
        const { from: from_device, to: to_device, signal } = command;
        const other = otherMember(conversation, user) ?? "";
        this.#push(other, {
          event_type: "signal",
          data: { call_id: id, conversation, from_device, to_device, signal },
        });
        return { passed: true };
      }
    }
  }

  /** Applies timeouts; called regularly. */
  applyTimeouts(): void {
    for (const place of this.#conversations.values()) {
      const { kept } = place;
      const next = kept && !kept.over && applyCallTimeout(kept, place.heard, this.time.now);
      if (next && !("error" in next)) this.#write(place, kept, next);
    }
  }

  #isBusy(user: Uuid, conversation: ConversationId): boolean {
    return this.open.some(
      (call) =>
        call.conversation !== conversation && (call.from === user || (call.to === user && call.answered_at !== null)),
    );
  }

  #applyCommand(place: CallConversation, by: number, callCommand: CallCommand): CallResult | Refusal {
    const { kept } = place;
    if (kept?.over && kept.id === callCommand.id && callCommand.type !== "answer") return this.#result(place.id, kept);
    const open = kept && !kept.over ? kept : null;
    const next = applyCallCommand(open, by, callCommand, this.time.now, open ? place.heard : undefined);
    if ("error" in next) return next;
    if (callCommand.type === "create" && next.call?.id === callCommand.id)
      this.createdAt.set(callCommand.id, next.call.createdAt);
    const call = this.#write(place, open, next);
    this.#recordSeen(place, by);
    return this.#result(place.id, call);
  }

  /** Records that a device rings. Only a phone that seemed asleep changes what devices are told. */
  #recordRing(place: CallConversation, kept: StoredCall, by: number): void {
    const next = applyCallCommand(kept, by, { type: "reportRing", id: kept.id }, this.time.now);
    if ("error" in next || !next.call || next.call === kept) return;
    if (next.call.ring === "woken") this.#write(place, kept, next);
    else place.kept = { ...kept, ring: next.call.ring };
  }

  #recordSeen(place: CallConversation, by: number): void {
    place.heard[by === place.kept?.caller ? "caller" : "callee"] = this.time.now;
  }

  #write(
    place: CallConversation,
    before: OpenCall | null,
    next: { call: OpenCall | null; logEntry?: CallBody },
  ): StoredCall {
    const call = next.call ?? before;
    if (!call) throw new Error("a call ended that never was");
    if (next.call === before) return place.kept as StoredCall;
    const { over: _, ...plain } = call as StoredCall;
    const kept: StoredCall = { ...plain, over: next.logEntry ?? null };
    if (before?.id !== call.id) place.heard = { caller: this.time.now, callee: this.time.now };
    place.kept = kept;
    if (next.logEntry) this.callEntries.push(next.logEntry);
    this.#announce(place.id, kept);
    return kept;
  }

  #announce(conversation: ConversationId, kept: StoredCall): void {
    const call = toCall(conversation, kept);
    for (const user of [call.from, call.to]) {
      const isRung = !kept.over && call.answered_at === null && call.to === user;
      if (isRung && this.open.some((other) => other.call_id !== call.call_id && this.#isIn(other, user))) {
        const end = { type: "hangUp", call: call.call_id, device: user, status: "missed", reason: "busy" } as const;
        this.time.after(1, () => this.execute(user, { ...end, conversation }));
        continue;
      }
      if (kept.over) {
        const { status, seconds, reason } = kept.over;
        this.#push(user, {
          event_type: status,
          data: { call_id: call.call_id, conversation, seconds, ...(reason ? { reason } : {}) },
        });
      } else this.#push(user, { event_type: call.answered_at === null ? "ring" : "answered", data: call });
    }
  }

  #isIn(call: Call, user: Uuid): boolean {
    return call.from === user || call.to === user;
  }

  #push(user: Uuid, news: CallFeedEvent): void {
    for (const browser of this.browsers) if (browser.user === user) browser.receive(news);
  }

  #result(conversation: ConversationId, kept: StoredCall): CallResult {
    return { call: toCall(conversation, kept), over: kept.over, now: this.time.now };
  }
}
