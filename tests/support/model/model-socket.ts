import * as v from "valibot";
import { type ConversationId, packUuid, type Uuid } from "#contract/ids.ts";
import { getEditNumber, isEditableBody } from "#contract/messages/body.ts";
import { findMentions } from "#contract/messages/mentions.ts";
import type { Message } from "#contract/messages/message.ts";
import { type ClientFrame, decodeClientFrames } from "#contract/wire/client-frames.ts";
import { toCommand } from "#contract/wire/command-frames.ts";
import { CommandSchema } from "#contract/wire/command-schemas.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { toWireBody, toWireMessage, toWirePerson, toWireRow } from "#contract/wire/compact-encoding.ts";
import { encodeReactions } from "#contract/wire/reactions.ts";
import {
  closeCodes,
  encodeFrame,
  encodeLiveEdit,
  encodeLiveText,
  pingFrame,
  protocolVersion,
  toPongFrame,
  toRefusalFrame,
  toSocketBase,
} from "#contract/wire/server-frames.ts";
import { answerFrame } from "./model-answers.ts";
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
    const n = counter - base.counter;
    if (change.type === "messages" && change.source?.socket === this) {
      const [message] = change.messages;
      if (message) this.acknowledge(counter, change.source.ref, message);
      return;
    }
    this.#push(this.#toText(n, change, base.now));
  }

  acknowledge(counter: number, ref: number, { seq, at }: Pick<Message, "seq" | "at">): void {
    const base = this.#base;
    if (!base || this.#chance(this.faults.dropAck)) return;
    this.#push(encodeFrame(["a", counter - base.counter, ref, seq, at - base.now]));
  }

  refuse(ref: number, { error, retryAfterMs }: Refusal): void {
    this.#deliver(encodeFrame(toRefusalFrame(ref, error, retryAfterMs)));
  }

  /** Pushes a typing signal; its loss has no consequence. */
  pushTyping(handle: number, member: number): void {
    if (this.#base) this.#push(encodeFrame(["t", handle, member]));
  }

  /** Pushes that this person deleted a status on another device. */
  pushPostDeleted(id: Uuid): void {
    if (this.#base) this.#push(encodeFrame(["d", packUuid(id)]));
  }

  /** Tells that the push subscription of this session was made with a former key. */
  announceKeyChange(): void {
    if (this.#base) this.#push(encodeFrame(["k"]));
  }

  /** Pushes that a watched person's presence visibility changed. */
  pushPresenceChanged(): void {
    if (this.#base) this.#push(encodeFrame(["l"]));
  }

  #toText(n: number, change: InboxChange, now: number): string {
    switch (change.type) {
      case "messages": {
        const [message] = change.messages;
        const text = message?.cid === undefined && message ? toWireBody(message.body) : undefined;
        if (change.isPrivate && message && typeof text === "string")
          return encodeLiveText({
            counter: n,
            handle: change.handle,
            seq: message.seq,
            at: message.at - now,
            text,
          });
        return encodeFrame(["m", n, change.handle, change.messages.map((one) => toWireMessage(one, now))]);
      }
      case "changed": {
        const { handle, revision } = change.row;
        const [message] = change.messages;
        const edited = message ? getEditNumber(message.body) : 0;
        const isSole = change.messages.length === 1 && change.since === revision - 1;
        if (message && edited > 0 && isSole && isEditableBody(message.body) && findMentions(message.body).length === 0)
          return encodeLiveEdit({
            counter: n,
            handle,
            seq: message.seq,
            revision,
            edited,
            text: message.body.text ?? "",
          });
        return encodeFrame([
          "e",
          n,
          handle,
          change.since,
          revision,
          change.messages.map((one) => toWireMessage(one, now)),
        ]);
      }
      case "reactions": {
        const { handle, revision } = change.row;
        const includedRevisions = revision - change.since;
        return encodeReactions({ counter: n, handle, revision, includedRevisions, changed: change.changed });
      }
      case "row":
        return encodeFrame(["i", n, toWireRow(change.row, now)]);
      case "others":
        return encodeFrame(["o", n, change.row.handle, change.row.othersDelivered, change.row.othersRead]);
      case "mine":
        return encodeFrame([
          "u",
          n,
          change.row.handle,
          change.row.delivered,
          change.row.read,
          change.row.unread,
          change.row.head,
        ]);
      case "person":
        return encodeFrame(["p", n, toWirePerson(change.relation)]);
      case "settings":
        return encodeFrame(["s", n, change.kept]);
      case "notice":
        return encodeFrame(["z", n, change.notice]);
      case "draft": {
        const { handle, before, draft } = change;
        if (draft.writer === this.device) return encodeFrame(["D", n, handle, before]);
        const { base, at, text, reply } = draft;
        const fields = ["D", n, handle, before, base, at - now, text] as const;
        return encodeFrame(reply === undefined ? [...fields] : [...fields, reply]);
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
    if (frame[0] === "h") this.#welcome(frame[2], frame[3]);
    else this.#handleCommand(frame);
  }

  #handleCommand(frame: Exclude<ClientFrame, readonly ["h", ...unknown[]]>): void {
    if (frame[0] === "l") {
      this.isForeground = frame[1] === 1;
      this.foregroundReports++;
    }
    if (frame[0] === "k" || frame[0] === "l") return;
    const idOf = (of: number | ConversationId) =>
      typeof of === "string" ? of : this.server.findConversationByHandle(this.user, of);
    const ref = frame[0] === "r" || frame[0] === "t" ? 0 : frame[1];
    const of = frame[0] === "r" || frame[0] === "t" ? frame[1] : frame[0] === "c" || frame[0] === "f" ? "" : frame[2];
    const conversation = idOf(of);
    if (frame[0] === "t") {
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
      if (frame[0] !== "r") for (const one of refs) this.refuse(one, result);
    } else if (command.type !== "send" && command.type !== "multicast" && command.type !== "mark") {
      this.#deliver(encodeFrame(answerFrame(command.type, ref, result, this.#base?.now ?? 0)));
    }
  }

  #welcome(epoch: string, counter: number): void {
    const inbox = this.server.inbox(this.user);
    const result = this.server.listChanges(this.user, epoch === inbox.epoch ? counter : 0);
    const base = toSocketBase(result);
    this.#base = base;
    inbox.sockets.add(this);
    const { now } = result;
    const rows = result.rows.map((row) => toWireRow(row, base.now));
    const people = result.people.map(toWirePerson);
    this.#deliver(
      encodeFrame([
        "w",
        protocolVersion,
        result.epoch,
        result.counter,
        now,
        rows,
        people,
        result.calls,
        result.before,
        result.settings,
        result.notices,
        result.since,
        result.draftHead,
      ]),
    );
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
