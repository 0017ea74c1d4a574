import * as v from "valibot";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import type { ConversationId } from "#contract/ids.ts";
import { spreadMax } from "#contract/limits.ts";
import { type ClientFrame, refsOfUnread } from "#contract/wire/client-frames.ts";
import { toCommand } from "#contract/wire/command-frames.ts";
import { CommandSchema } from "#contract/wire/command-schemas.ts";
import { type Command, type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { refusalFrame } from "#contract/wire/server-frames.ts";
import type { Commands } from "#worker/objects/user-channel/commands/command-router.ts";
import type { Sending } from "#worker/objects/user-channel/commands/send-messages.ts";
import type { Feed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import { answerFrame, mineFrame } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { Socket, Sockets } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { CommandLanes } from "./command-lanes.ts";

export type FrameOf<T extends ClientFrame[0]> = Extract<ClientFrame, readonly [T, ...unknown[]]>;
type Question = Exclude<ClientFrame, FrameOf<"h" | "k" | "l" | "t" | "f">>;
/** What is answered by its ref. */
type Answered = Exclude<Command["type"], "send" | "spread" | "mark">;
type Refuse = (refusal: Refusal) => void;

type Host = {
  sockets: Sockets;
  feed: Feed;
  sending: Sending;
  commands: Pick<Commands, "run">;
};

const fullRetryMs = 1_000;

const codeOf = (issues: readonly v.BaseIssue<unknown>[]): ErrorCode =>
  issues.map((issue) => issue.message).find(isErrorCode) ?? "invalid_input";

/** Commands that came in frames: what they name, what becomes of them, and what the socket hears of it. */
export class Asking {
  readonly #host: Host;
  readonly #lanes = new CommandLanes();

  constructor(host: Host) {
    this.#host = host;
  }

  async ask(socket: Socket, frame: Question): Promise<void> {
    const ref = frame[0] === "r" ? undefined : frame[1];
    const refuse: Refuse = (refusal) => {
      if (ref !== undefined) this.#refuse(socket, ref, refusal);
    };
    const named = frame[0] === "c" ? "" : frame[0] === "r" ? frame[1] : frame[2];
    const conversation = this.#idOf(named);
    if (conversation === undefined) return refuse({ error: "conversation_not_found" });
    if (frame[0] === "s" && frame[5] && this.#idOf(frame[5][0]) === undefined)
      return refuse({ error: "original_gone" });
    const parsed = v.safeParse(
      CommandSchema,
      toCommand(frame, conversation, (one) => this.#idOf(one) ?? ""),
    );
    if (!parsed.success) return refuse({ error: codeOf(parsed.issues) });
    // Of all frames only an "f" stands for a spread.
    const command = parsed.output as Exclude<Command, { type: "spread" }>;
    const device = "device" in command ? command.device : "from" in command ? command.from : undefined;
    if (device !== undefined) this.#host.sockets.name(socket, device);
    if (command.type === "send") return this.#sendFrom(socket, ref ?? 0, command, refuse);
    const run = () => this.#run(socket, ref, command, refuse);
    // A call is not kept waiting, nor does it keep anything waiting: there are few of them, and each has a limit.
    return frame[0] === "j" ? run() : this.#lanes.run(socket, run);
  }

  async #run(
    socket: Socket,
    ref: number | undefined,
    command: Exclude<Command, { type: "send" | "spread" }>,
    refuse: Refuse,
  ): Promise<void> {
    const isHeavy = command.type === "page" || command.type === "search" || command.type === "revised";
    if (isHeavy && this.#host.sockets.isFull(socket))
      return refuse({ error: "rate_limited", retryAfterMs: fullRetryMs });
    if (command.type === "mark") return this.#markFrom(socket, command);
    const isWanted = () => socket.readyState === WebSocket.READY_STATE_OPEN;
    const result = await this.#host.commands.run(command, socket.state?.session, isWanted);
    if (isRefusal(result)) return refuse(result);
    if (!socket.state) return;
    const answer = answerFrame(command.type, ref ?? 0, result as CommandResults[Answered], socket.state.base);
    this.#host.sockets.answer(socket, answer.frame, answer.messages);
  }

  /** What could not be read: whoever waits for an answer to it has one. */
  unread(socket: Socket, message: string): void {
    for (const ref of refsOfUnread(message)) this.#refuse(socket, ref, { error: "malformed_frame" });
    this.#host.sockets.malformed(socket);
  }

  /** The conversation that a frame names, by its id or by this person's handle for it. */
  #idOf(named: number | ConversationId): ConversationId | undefined {
    return typeof named === "string" ? named : this.#host.feed.findByHandle(named)?.conversation;
  }

  #refuse(socket: Socket, ref: number, { error, retryAfterMs }: Refusal): void {
    this.#host.sockets.answer(socket, refusalFrame(ref, error, retryAfterMs));
  }

  #sendFrom(socket: Socket, ref: number, command: CommandOf<"send">, refuse: Refuse): void {
    this.#host.sending.send(command, { source: socket, ref }, (outcome) => {
      if (isRefusal(outcome)) refuse(outcome);
    });
  }

  /** One body to many. Each message has its own answer, whatever is amiss with the others. */
  spread(socket: Socket, [type, first, body, source, targets]: FrameOf<"f">): void {
    if (targets.length === 0 || targets.length > spreadMax) {
      this.#host.sockets.malformed(socket);
      return;
    }
    const sourceId = source && this.#idOf(source[0]);
    const known: { ref: number; to: (typeof targets)[number] }[] = [];
    for (const [index, [named, cid]] of targets.entries()) {
      const [ref, id] = [first + index, this.#idOf(named)];
      if (id === undefined) this.#refuse(socket, ref, { error: "conversation_not_found" });
      else if (source && sourceId === undefined) this.#refuse(socket, ref, { error: "original_gone" });
      else known.push({ ref, to: [id, cid] });
    }
    if (known.length === 0) return;
    const to = known.map((one) => one.to);
    const frame: FrameOf<"f"> = [type, first, body, source && [sourceId ?? "", source[1]], to];
    const parsed = v.safeParse(CommandSchema, toCommand(frame, ""));
    const refuse = (index: number, refusal: Refusal) => this.#refuse(socket, known[index]?.ref ?? first, refusal);
    if (!parsed.success || parsed.output.type !== "spread") {
      const error = parsed.success ? "invalid_input" : codeOf(parsed.issues);
      for (const index of known.keys()) refuse(index, { error });
      return;
    }
    const fromOf = (index: number) => ({ source: socket, ref: known[index]?.ref ?? first });
    this.#host.sending.spread(parsed.output, fromOf, (outcome, index) => {
      if (isRefusal(outcome)) refuse(index, outcome);
    });
  }

  /** Marks have no answer but the change that follows; where nothing changes, the row as it stands is said again. */
  async #markFrom(socket: Socket, command: CommandOf<"mark">): Promise<void> {
    const before = this.#host.feed.counter;
    await this.#host.commands.run(command);
    const row = this.#host.feed.find(command.conversation);
    if (row && socket.state && this.#host.feed.counter === before) {
      this.#host.sockets.answer(socket, mineFrame(before, row, socket.state.base));
    }
  }
}
