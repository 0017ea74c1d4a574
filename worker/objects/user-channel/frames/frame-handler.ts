import * as v from "valibot";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import type { ConversationId } from "#contract/ids.ts";
import { multicastMax } from "#contract/limits/messages.ts";
import { type ClientFrame, type ClientFrameOf, listMalformedRefs, toCommand } from "#contract/wire/client-frames.ts";
import { CommandSchema } from "#contract/wire/command-schemas.ts";
import { type Command, type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import type { CommandRouter } from "#worker/objects/user-channel/commands/command-router.ts";
import type { MessageDispatcher } from "#worker/objects/user-channel/commands/send-messages.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import { toAnswerFrame, toOwnReceiptsFrame } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";
import { CommandLanes } from "./command-lanes.ts";

type CommandFrame = Exclude<ClientFrame, ClientFrameOf<"hello" | "received" | "foreground" | "typing" | "multicast">>;
/** Commands whose answer carries the frame's ref. */
type AnsweredCommand = Exclude<Command["type"], "send" | "multicast" | "mark">;
type RefuseCommand = (refusal: Refusal) => void;

type FrameHandlerPorts = {
  sockets: SocketRegistry;
  inbox: InboxFeed;
  dispatcher: MessageDispatcher;
  commands: Pick<CommandRouter, "run">;
};

const fullSocketRetryMs = 1_000;

const findErrorCode = (issues: readonly v.BaseIssue<unknown>[]): ErrorCode =>
  issues.map((issue) => issue.message).find(isErrorCode) ?? "invalid_input";

/** Runs commands that arrived as frames and answers their sockets. */
export class FrameHandler {
  readonly #ports: FrameHandlerPorts;
  readonly #lanes = new CommandLanes();

  constructor(ports: FrameHandlerPorts) {
    this.#ports = ports;
  }

  async handleCommand(socket: ClientSocket, frame: CommandFrame): Promise<void> {
    const ref = frame.type === "mark" ? undefined : frame.ref;
    const refuse: RefuseCommand = (refusal) => {
      if (ref !== undefined) this.#sendRefusal(socket, ref, refusal);
    };
    const conversation = frame.type === "changes" ? "" : this.#findConversation(frame.conversation);
    if (conversation === undefined) return refuse({ error: "conversation_not_found" });
    if (frame.type === "send" && frame.source && this.#findConversation(frame.source.conversation) === undefined)
      return refuse({ error: "original_gone" });
    const parsed = v.safeParse(
      CommandSchema,
      toCommand(frame, conversation, (handle) => this.#findConversation(handle) ?? ""),
    );
    if (!parsed.success) return refuse({ error: findErrorCode(parsed.issues) });
    // Multicasts have a frame of their own.
    const command = parsed.output as Exclude<Command, { type: "multicast" }>;
    const device = "device" in command ? command.device : "from" in command ? command.from : undefined;
    if (device !== undefined) this.#ports.sockets.setDevice(socket, device);
    if (command.type === "send") return this.#sendMessages(socket, ref ?? 0, command, refuse);
    const run = () => this.#runCommand(socket, ref, command, refuse);
    // Call commands bypass the queue: they are few and rate limited, and must not wait.
    return frame.type === "call" ? run() : this.#lanes.run(socket, run);
  }

  async #runCommand(
    socket: ClientSocket,
    ref: number | undefined,
    command: Exclude<Command, { type: "send" | "multicast" }>,
    refuse: RefuseCommand,
  ): Promise<void> {
    const isHeavy = command.type === "page" || command.type === "search" || command.type === "revised";
    if (isHeavy && this.#ports.sockets.isPageCreditUsedUp(socket))
      return refuse({ error: "rate_limited", retryAfterMs: fullSocketRetryMs });
    if (command.type === "mark") return this.#updateReceipts(socket, command);
    const isWanted = () => socket.readyState === WebSocket.READY_STATE_OPEN;
    const result = await this.#ports.commands.run(command, socket.state?.session, isWanted);
    if (isRefusal(result)) return refuse(result);
    if (!socket.state) return;
    const answer = toAnswerFrame(command.type, ref ?? 0, result as CommandResults[AnsweredCommand]);
    this.#ports.sockets.sendFrame(socket, answer.frame, answer.messages);
  }

  /** Refuses unreadable frames whose refs expect an answer. */
  unread(socket: ClientSocket, message: string): void {
    for (const ref of listMalformedRefs(message)) this.#sendRefusal(socket, ref, { error: "malformed_frame" });
    this.#ports.sockets.rejectMalformed(socket);
  }

  /** The conversation that a frame names by id or by this person's handle. */
  #findConversation(target: number | ConversationId): ConversationId | undefined {
    return typeof target === "string" ? target : this.#ports.inbox.findByHandle(target)?.conversation;
  }

  #sendRefusal(socket: ClientSocket, ref: number, { error, retryAfterMs }: Refusal): void {
    this.#ports.sockets.sendFrame(socket, { type: "refusal", ref, error, retryAfterMs });
  }

  #sendMessages(socket: ClientSocket, ref: number, command: CommandOf<"send">, refuse: RefuseCommand): void {
    this.#ports.dispatcher.send(command, { source: socket, ref }, (outcome) => {
      if (isRefusal(outcome)) refuse(outcome);
    });
  }

  /** Sends one body to many conversations. Each message is answered on its own. */
  handleMulticast(socket: ClientSocket, frame: ClientFrameOf<"multicast">): void {
    const { ref: firstRef, source, to: targets } = frame;
    if (targets.length === 0 || targets.length > multicastMax) {
      this.#ports.sockets.rejectMalformed(socket);
      return;
    }
    const idOf = (target: number | ConversationId) => this.#findConversation(target) ?? "";
    const recipients: { ref: number; target: (typeof targets)[number] }[] = [];
    for (const [index, target] of targets.entries()) {
      const ref = firstRef + index;
      if (idOf(target.conversation) === "") this.#sendRefusal(socket, ref, { error: "conversation_not_found" });
      else if (source && idOf(source.conversation) === "") this.#sendRefusal(socket, ref, { error: "original_gone" });
      else recipients.push({ ref, target });
    }
    if (recipients.length === 0) return;
    const to = recipients.map(({ target }) => target);
    const parsed = v.safeParse(CommandSchema, toCommand({ ...frame, to }, "", idOf));
    const refuse = (index: number, refusal: Refusal) =>
      this.#sendRefusal(socket, recipients[index]?.ref ?? firstRef, refusal);
    if (!parsed.success || parsed.output.type !== "multicast") {
      const error = parsed.success ? "invalid_input" : findErrorCode(parsed.issues);
      for (const index of recipients.keys()) refuse(index, { error });
      return;
    }
    const originOf = (index: number) => ({ source: socket, ref: recipients[index]?.ref ?? firstRef });
    this.#ports.dispatcher.multicast(parsed.output, originOf, (outcome, index) => {
      if (isRefusal(outcome)) refuse(index, outcome);
    });
  }

  /** Updates receipts. The answer is the resulting change; if nothing changed, the current row is sent again. */
  async #updateReceipts(socket: ClientSocket, command: CommandOf<"mark">): Promise<void> {
    const before = this.#ports.inbox.counter;
    await this.#ports.commands.run(command);
    const row = this.#ports.inbox.find(command.conversation);
    if (row && socket.state && this.#ports.inbox.counter === before) {
      this.#ports.sockets.sendFrame(socket, toOwnReceiptsFrame(before, row));
    }
  }
}
