import * as v from "valibot";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { getEditNumber, isEditableBody } from "#contract/messages/body.ts";
import { toMessageKind } from "#contract/messages/kinds.ts";
import { findMentions } from "#contract/messages/mentions.ts";
import type { Message } from "#contract/messages/message.ts";
import { type ClientFrame, decodeClientFrames, toCommand } from "#contract/wire/client-frames.ts";
import { CommandSchema } from "#contract/wire/command-schemas.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import {
  closeCodes,
  encodeServerFrame,
  originBase,
  pingFrame,
  protocolVersion,
  type ServerFrame,
  toPongFrame,
  toSocketBase,
} from "#contract/wire/server-frames.ts";
import { toAnswerFrame } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { InboxChange } from "./model-inboxes.ts";
import type { ModelServer } from "./model-server.ts";

/** Network faults between device and server. All off means a good network. */
export type Faults = {
  random: () => number;
  /** Maximum, in milliseconds. */
  delay: number;
  /** Probabilities. */
  dropDown: number;
  dropAck: number;
  duplicateDown: number;
  reorderDown: number;
  cut: number;
  /** No socket opens. */
  noUpgrade: boolean;
  /** Nothing gets through, without any error. */
  blackhole: boolean;
  /** Nothing gets through, with an error. */
  isOffline: boolean;
};

export const makeGoodNetwork = (): Faults => ({
  random: Math.random,
  delay: 0,
  dropDown: 0,
  dropAck: 0,
  duplicateDown: 0,
  reorderDown: 0,
  cut: 0,
  noUpgrade: false,
  blackhole: false,
  isOffline: false,
});

/** WebSocket as a page sees it, connected to the model server through the simulated faults. */
export class ModelSocket extends EventTarget {
  readyState: number = WebSocket.CONNECTING;
  binaryType: BinaryType = "blob";
  readonly protocol = "";
  readonly extensions = "";
  readonly bufferedAmount = 0;
  /** Last visibility reported by its device, and the number of such reports. */
  isForeground = false;
  foregroundReports = 0;
  #base: { counter: number; now: number } | undefined;
  #overtaken: string | undefined;
  #up: Promise<void> = Promise.resolve();
  #down: Promise<void> = Promise.resolve();
  /** A connection that silently lost something delivers nothing after it. */
  #isDead = false;

  constructor(
    readonly url: string,
    readonly server: ModelServer,
    readonly user: Uuid,
    readonly faults: Faults,
    readonly refusesSession: () => boolean,
    /** Device of its person. */
    readonly device = "",
  ) {
    super();
    void this.#wait().then(() => {
      if (this.readyState !== WebSocket.CONNECTING || faults.blackhole) return;
      if (faults.noUpgrade || faults.isOffline) return this.end(1006);
      this.readyState = WebSocket.OPEN;
      this.dispatchEvent(new Event("open"));
      if (refusesSession()) this.end(closeCodes.signedOut);
    });
  }

  // ── the page's side ──────────────────────────────────────────────────────────────────────────────────────

  send(text: string): void {
    if (this.readyState !== WebSocket.OPEN) throw new Error("the socket is not open");
    this.#up = this.#up.then(() => this.#wait()).then(() => this.#receive(text));
  }

  close(): void {
    this.end(1000);
  }

  // ── the server's side ────────────────────────────────────────────────────────────────────────────────────

  /** Closes the socket. If the network broke, the page gets an error event first. */
  end(code: number, reason = ""): void {
    this.server.inbox(this.user).sockets.delete(this);
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    if (code === 1006) this.dispatchEvent(new Event("error"));
    this.dispatchEvent(new CloseEvent("close", { code, reason }));
  }

  pushChange(counter: number, change: InboxChange): void {
    const base = this.#base;
    if (!base) return;
    if (change.type === "messages" && change.source?.socket === this) {
      const [message] = change.messages;
      if (message) this.acknowledge(counter, change.source.ref, message);
      return;
    }
    this.#push(encodeServerFrame(this.#toFrame(counter, change), base));
  }

  acknowledge(counter: number, ref: number, { seq, at }: Pick<Message, "seq" | "at">): void {
    const base = this.#base;
    if (!base || this.#chance(this.faults.dropAck)) return;
    this.#push(encodeServerFrame({ type: "acknowledgement", counter, acks: [{ ref, seq, at }] }, base));
  }

  refuse(ref: number, { error, retryAfterMs }: Refusal): void {
    this.#deliver(encodeServerFrame({ type: "refusal", ref, error, retryAfterMs }, originBase));
  }

  /** Pushes a typing signal; its loss has no consequence. */
  pushTyping(handle: number, member: number): void {
    this.#pushEvent({ type: "typing", target: handle, member });
  }

  /** Pushes that this person deleted a status on another device. */
  pushPostDeleted(id: Uuid): void {
    this.#pushEvent({ type: "postDeleted", id });
  }

  /** Tells that the push subscription of this session was made with a former key. */
  announceKeyChange(): void {
    this.#pushEvent({ type: "pushKeyChanged" });
  }

  /** Pushes that a watched person's presence visibility changed. */
  pushPresenceChanged(): void {
    this.#pushEvent({ type: "presenceVisibility" });
  }

  /** Pushes an event without a counter; its loss has no consequence. */
  #pushEvent(frame: ServerFrame): void {
    if (this.#base) this.#push(encodeServerFrame(frame, this.#base));
  }

  #toFrame(counter: number, change: InboxChange): ServerFrame {
    switch (change.type) {
      case "messages": {
        const { handle: target, messages } = change;
        const [message] = messages;
        if (change.isPrivate && message?.cid === undefined && message?.body.type === "text") {
          const { seq, at, body } = message;
          if (toMessageKind(body) === "text") return { type: "liveText", counter, target, seq, at, text: body.text };
        }
        return { type: "messages", counter, target, messages };
      }
      case "changed": {
        const { since, messages } = change;
        const { handle: target, revision } = change.row;
        const [message] = messages;
        const edited = message ? getEditNumber(message.body) : 0;
        const isSole = messages.length === 1 && since === revision - 1;
        if (
          message &&
          edited > 0 &&
          isSole &&
          isEditableBody(message.body) &&
          findMentions(message.body).length === 0
        ) {
          const { seq, body } = message;
          return { type: "liveEdit", counter, target, seq, revision, edited, text: body.text ?? "" };
        }
        return { type: "revised", counter, target, since, revision, messages };
      }
      case "reactions": {
        const { handle: target, revision } = change.row;
        return { type: "reactions", counter, target, since: change.since, revision, changed: change.changed };
      }
      case "row":
        return { type: "row", counter, row: change.row };
      case "others": {
        const { handle: target, othersDelivered: delivered, othersRead: read } = change.row;
        return { type: "peerRead", counter, target, delivered, read };
      }
      case "mine": {
        const { handle: target, delivered, read, unread, head } = change.row;
        return { type: "ownRead", counter, target, delivered, read, unread, head };
      }
      case "person":
        return { type: "person", counter, relation: change.relation };
      case "settings":
        return { type: "settings", counter, kept: change.kept };
      case "notice":
        return { type: "notice", counter, notice: change.notice };
      case "draft": {
        const { handle: target, before, draft } = change;
        const { base, at, text, reply } = draft;
        const place = { type: "draft", counter, target, before } as const;
        return draft.writer === this.device ? place : { ...place, base, at, text, reply };
      }
    }
  }

  #receive(text: string): void {
    this.#isDead ||= this.faults.blackhole;
    if (this.readyState !== WebSocket.OPEN || this.#isDead) return;
    const frames = text === pingFrame ? undefined : decodeClientFrames(text);
    if (this.faults.isOffline || this.#chance(this.faults.cut)) this.end(1006);
    else if (text === pingFrame) this.#deliver(toPongFrame(this.server.inbox(this.user).counter));
    else if (!frames) this.end(closeCodes.protocol);
    else for (const frame of frames) this.#handleFrame(frame);
  }

  #handleFrame(frame: ClientFrame): void {
    switch (frame.type) {
      case "hello":
        this.#welcome(frame.epoch, frame.counter);
        break;
      case "foreground":
        this.isForeground = frame.isForeground;
        this.foregroundReports++;
        break;
      case "received":
        break;
      default:
        this.#handleCommand(frame);
        break;
    }
  }

  #handleCommand(frame: Exclude<ClientFrame, { type: "hello" | "foreground" | "received" }>): void {
    const idOf = (of: number | ConversationId) =>
      typeof of === "string" ? of : this.server.findConversationByHandle(this.user, of);
    const ref = "ref" in frame ? frame.ref : 0;
    const conversation = "conversation" in frame ? idOf(frame.conversation) : "";
    if (frame.type === "typing") {
      if (conversation !== undefined) this.server.sendTyping(this.user, conversation);
      return;
    }
    const named = conversation === undefined ? undefined : toCommand(frame, conversation, (one) => idOf(one) ?? "");
    const parsed = v.safeParse(CommandSchema, named);
    if (!parsed.success) {
      const error = conversation === undefined ? "conversation_not_found" : "invalid_input";
      this.refuse(ref, { error });
      return;
    }
    const command = parsed.output;
    const result = this.server.execute(this.user, command, { socket: this, ref });
    if (isRefusal(result)) {
      const refs = command.type === "multicast" ? command.to.map((_, index) => ref + index) : [ref];
      if (frame.type !== "mark") for (const one of refs) this.refuse(one, result);
    } else if (command.type !== "send" && command.type !== "multicast" && command.type !== "mark") {
      const { frame: answer } = toAnswerFrame(command.type, ref, result as Parameters<typeof toAnswerFrame>[2]);
      this.#deliver(encodeServerFrame(answer, this.#base ?? originBase));
    }
  }

  #welcome(epoch: string, counter: number): void {
    const inbox = this.server.inbox(this.user);
    const result = this.server.listChanges(this.user, epoch === inbox.epoch ? counter : 0);
    const base = toSocketBase(result);
    this.#base = base;
    inbox.sockets.add(this);
    this.#deliver(encodeServerFrame({ type: "welcome", version: protocolVersion, ...result }, base));
  }

  // ── the way between ──────────────────────────────────────────────────────────────────────────────────────

  #chance(probability: number): boolean {
    return probability > 0 && this.faults.random() < probability;
  }

  #wait(): Promise<void> {
    const { delay, random } = this.faults;
    return new Promise((resolve) => (delay > 0 ? setTimeout(resolve, random() * delay) : setImmediate(resolve)));
  }

  /** Sends a change, which may be lost, duplicated or reordered. */
  #push(text: string): void {
    const { dropDown, duplicateDown, reorderDown } = this.faults;
    if (this.#chance(dropDown)) return;
    if (this.#overtaken === undefined && this.#chance(reorderDown)) {
      this.#overtaken = text;
      return;
    }
    this.#deliver(text);
    if (this.#chance(duplicateDown)) this.#deliver(text);
    if (this.#overtaken !== undefined) this.#deliver(this.#overtaken);
    this.#overtaken = undefined;
  }

  #deliver(text: string): void {
    this.#down = this.#down
      .then(() => this.#wait())
      .then(() => {
        this.#isDead ||= this.faults.blackhole;
        if (this.readyState !== WebSocket.OPEN || this.#isDead) return;
        if (this.faults.isOffline || this.#chance(this.faults.cut)) return this.end(1006);
        this.dispatchEvent(new MessageEvent("message", { data: text }));
      });
  }
}
