import * as v from "valibot";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import type { ConversationId } from "#contract/ids.ts";
import { multicastMax } from "#contract/limits/messages.ts";
import * as clientFrame from "#contract/wire/client-frame-types.ts";
import { type ClientFrame, listMalformedRefs } from "#contract/wire/client-frames.ts";
import { toCommand } from "#contract/wire/command-frames.ts";
import { CommandSchema } from "#contract/wire/command-schemas.ts";
import { type Command, type CommandOf, type CommandResults, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { toRefusalFrame } from "#contract/wire/server-frames.ts";
import type { CommandRouter } from "#worker/objects/user-channel/commands/command-router.ts";
import type { MessageDispatcher } from "#worker/objects/user-channel/commands/send-messages.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import { toAnswerFrame, toOwnReceiptsFrame } from "#worker/objects/user-channel/sockets/server-frames.ts";
import type { SocketRegistry } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";
import { CommandLanes } from "./command-lanes.ts";

export type ClientFrameOf<T extends keyof typeof clientFrame> = Extract<
  ClientFrame,
  readonly [(typeof clientFrame)[T], ...unknown[]]
>;
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
    const ref = frame[0] === clientFrame.receipts ? undefined : frame[1];
    const refuse: RefuseCommand = (refusal) => {
      if (ref !== undefined) this.#sendRefusal(socket, ref, refusal);
    };
    const target = frame[0] === clientFrame.changes ? "" : frame[0] === clientFrame.receipts ? frame[1] : frame[2];
    const conversation = this.#findConversation(target);
    if (conversation === undefined) return refuse({ error: "conversation_not_found" });
    if (frame[0] === clientFrame.send && frame[5] && this.#findConversation(frame[5][0]) === undefined)
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
    return frame[0] === clientFrame.call ? run() : this.#lanes.run(socket, run);
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
    const answer = toAnswerFrame(command.type, ref ?? 0, result as CommandResults[AnsweredCommand], socket.state.base);
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
    this.#ports.sockets.sendFrame(socket, toRefusalFrame(ref, error, retryAfterMs));
  }

  #sendMessages(socket: ClientSocket, ref: number, command: CommandOf<"send">, refuse: RefuseCommand): void {
    this.#ports.dispatcher.send(command, { source: socket, ref }, (outcome) => {
      if (isRefusal(outcome)) refuse(outcome);
    });
  }

  /** Sends one body to many conversations. Each message is answered on its own. */
  handleMulticast(socket: ClientSocket, [type, firstRef, body, source, targets]: ClientFrameOf<"multicast">): void {
    if (targets.length === 0 || targets.length > multicastMax) {
      this.#ports.sockets.rejectMalformed(socket);
      return;
    }
    const sourceId = source && this.#findConversation(source[0]);
    const recipients: { ref: number; to: (typeof targets)[number] }[] = [];
    for (const [index, [target, cid]] of targets.entries()) {
      const [ref, id] = [firstRef + index, this.#findConversation(target)];
      if (id === undefined) this.#sendRefusal(socket, ref, { error: "conversation_not_found" });
      else if (source && sourceId === undefined) this.#sendRefusal(socket, ref, { error: "original_gone" });
      else recipients.push({ ref, to: [id, cid] });
    }
    if (recipients.length === 0) return;
    const to = recipients.map((handle) => handle.to);
    const frame: ClientFrameOf<"multicast"> = [type, firstRef, body, source && [sourceId ?? "", source[1]], to];
    const parsed = v.safeParse(CommandSchema, toCommand(frame, ""));
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
      this.#ports.sockets.sendFrame(socket, toOwnReceiptsFrame(before, row, socket.state.base));
    }
  }
}
