import { Buffer } from "node:buffer";
import { type ConnectionContext, Server } from "partyserver";
import * as v from "valibot";
import { Command, type CommandOf, type CommandResults, isRefusal, type Refusal } from "../../contract/commands";
import { type ErrorCode, isErrorCode } from "../../contract/errors";
import type { ConversationId, Uuid } from "../../contract/ids";
import { frameMaxBytes, readBurst, readPerSecond } from "../../contract/limits";
import type { Relation } from "../../contract/people";
import { type ClientFrame, decodeClientFrame, protocolVersion, refusalFrame, toCommand } from "../../contract/protocol";
import inboxTables from "../../migrations/user-channel/0001_inbox.sql?raw";
import { Feed } from "./feed";
import { answerFrame, changesTail, mineFrame } from "./frames";
import { Gate } from "./gate";
import { migrate } from "./migrator";
import type { ConversationRpc, Notice, Standing, UserChannelRpc } from "./rpc";
import { type Outgoing, SendQueue, type Sent } from "./send-queue";
import { type Socket, type SocketState, Sockets } from "./sockets";
import { TokenBucket } from "./token-bucket";

/** Set by the Worker on the request it builds for an upgrade; whatever a client sent by that name is gone. */
export const sessionHeader = "x-lisolo-session";

type Asking = Extract<ClientFrame, readonly ["s" | "r" | "g" | "q" | "c" | "d", ...unknown[]]>;
type Reading = "hide" | "page" | "search" | "changes";

const fullRetryMs = 1_000;

const isStanding = (answer: Standing | Refusal): answer is Standing => !isRefusal(answer);

/** One person: their sockets, and their inbox with its change counter. */
export class UserChannel extends Server<Env> implements UserChannelRpc {
  static override options = { hibernate: true };

  readonly #sockets = new Sockets(() => this.getConnections<SocketState>());
  readonly #feed: Feed;
  readonly #gate: Gate;
  readonly #sends = new SendQueue<Socket>((conversation, batch) => this.#deliver(conversation, batch));
  readonly #reads = new TokenBucket(readBurst, readPerSecond);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, [inboxTables]);
    this.#feed = new Feed(ctx, this.#sockets);
    this.#gate = new Gate(env, ctx.id.name ?? "", (id) => this.#feed.find(id) !== undefined);
  }

  // ── sockets ──────────────────────────────────────────────────────────────────────────────────────────────

  override onConnect(socket: Socket, { request }: ConnectionContext): void {
    const session = request.headers.get(sessionHeader);
    if (session === null) throw new Error("a socket came without its session");
    this.#sockets.accept(socket, session);
  }

  override async onMessage(socket: Socket, message: string | ArrayBuffer): Promise<void> {
    try {
      if (typeof message !== "string") return this.#sockets.close(socket, "protocol");
      if (message.length > frameMaxBytes || Buffer.byteLength(message) > frameMaxBytes) {
        return this.#sockets.close(socket, "tooLarge");
      }
      const frame = decodeClientFrame(message);
      if (!frame || (frame[0] === "h") === (socket.state?.isReady ?? true)) return this.#sockets.malformed(socket);
      await this.#receive(socket, frame);
    } catch (error) {
      console.error("a frame could not be handled", error);
      this.#sockets.answer(socket, ["x", "internal"]);
    }
  }

  override onClose(): void {
    if (this.#sockets.isEmpty) this.#feed.flush();
  }

  override onError(_socket: Socket, error: unknown): void {
    console.warn("a socket broke", error);
  }

  override onRequest(): Response {
    return new Response(null, { status: 404 });
  }

  // ── what others ask ──────────────────────────────────────────────────────────────────────────────────────

  async execute<T extends Command["type"]>(
    _user: Uuid,
    command: Extract<Command, { type: T }>,
  ): Promise<CommandResults[T] | Refusal> {
    return (await this.#run(command)) as CommandResults[T] | Refusal;
  }

  async notify(_user: Uuid, notice: Notice): Promise<void> {
    this.#take(notice);
  }

  async relate(_user: Uuid, relations: Relation[]): Promise<void> {
    this.#feed.relate(relations);
  }

  async list(_user: Uuid, before: number | undefined): ReturnType<UserChannelRpc["list"]> {
    return this.#feed.list(before);
  }

  async closeSessions(_user: Uuid, sessions: Uuid[] | "all"): Promise<void> {
    this.#sockets.closeSessions(sessions);
  }

  // ── frames ───────────────────────────────────────────────────────────────────────────────────────────────

  async #receive(socket: Socket, frame: ClientFrame): Promise<void> {
    switch (frame[0]) {
      case "h":
        return this.#hello(socket, frame);
      case "k":
        if (!this.#sockets.confirm(socket, frame[1])) this.#sockets.malformed(socket);
        return;
      default:
        return this.#ask(socket, frame);
    }
  }

  #hello(socket: Socket, [, version, epoch, counter]: Extract<ClientFrame, readonly ["h", ...unknown[]]>): void {
    if (version !== protocolVersion) {
      this.#sockets.answer(socket, ["x", "unknown_protocol"]);
      this.#sockets.close(socket, "protocol");
      return;
    }
    const changes = this.#feed.changes(epoch === this.#feed.epoch ? counter : 0);
    this.#sockets.welcome(socket, { now: changes.now, counter: changes.counter });
    this.#sockets.answer(socket, ["w", protocolVersion, ...changesTail(changes, changes)]);
  }

  async #ask(socket: Socket, frame: Asking): Promise<void> {
    const ref = frame[0] === "r" ? undefined : frame[1];
    const refuse = ({ error, retryAfterMs }: Refusal): void => {
      if (ref !== undefined) this.#sockets.answer(socket, refusalFrame(ref, error, retryAfterMs));
    };
    const conversation = this.#conversationOf(frame);
    if (conversation === undefined) return refuse({ error: "conversation_not_found" });
    const parsed = v.safeParse(Command, toCommand(frame, conversation));
    if (!parsed.success) return refuse({ error: codeOf(parsed.issues) });
    const command = parsed.output;
    if (command.type === "send") return this.#sendFrom(socket, frame[1] as number, command, refuse);
    const isHeavy = command.type === "page" || command.type === "search";
    if (isHeavy && this.#sockets.isFull(socket)) return refuse({ error: "rate_limited", retryAfterMs: fullRetryMs });
    if (command.type === "mark") return this.#markFrom(socket, command);
    const result = await this.#run(command);
    if (isRefusal(result)) return refuse(result);
    if (!socket.state) return;
    const answer = answerFrame(command.type, ref ?? 0, result as CommandResults[Reading], socket.state.base);
    this.#sockets.answer(socket, answer.frame, answer.messages);
  }

  #conversationOf(frame: Asking): ConversationId | undefined {
    if (frame[0] === "c") return "";
    const conversation = frame[0] === "r" ? frame[1] : frame[2];
    return typeof conversation === "string" ? conversation : this.#feed.findByHandle(conversation)?.conversation;
  }

  #sendFrom(socket: Socket, ref: number, command: CommandOf<"send">, refuse: (refusal: Refusal) => void): void {
    const settle = (outcome: Sent | Refusal): void => {
      if (isRefusal(outcome)) refuse(outcome);
    };
    this.#sends.add(
      command.conversation,
      command.messages.map((message) => ({ ...message, source: socket, ref, settle })),
    );
  }

  /** Marks have no answer but the change that follows; where nothing changes, the row as it stands is said again. */
  async #markFrom(socket: Socket, command: CommandOf<"mark">): Promise<void> {
    const before = this.#feed.counter;
    await this.#run(command);
    const row = this.#feed.find(command.conversation);
    if (row && socket.state && this.#feed.counter === before) {
      this.#sockets.answer(socket, mineFrame(before, row, socket.state.base));
    }
  }

  // ── commands, from either carrier ────────────────────────────────────────────────────────────────────────

  async #run(command: Command): Promise<CommandResults[Command["type"]] | Refusal> {
    try {
      switch (command.type) {
        case "send":
          return await this.#sendAll(command);
        case "mark":
          return await this.#mark(command);
        case "hide":
          return await this.#hide(command);
        case "page":
          return await this.#read(command.conversation, (conversation, user) =>
            conversation.page(command.conversation, user, command),
          );
        case "search":
          return await this.#read(command.conversation, (conversation, user) =>
            conversation.search(command.conversation, user, command),
          );
        case "changes":
          return this.#limitReads() ?? this.#feed.changes(command.since, command.before);
        default:
          return command satisfies never;
      }
    } catch (error) {
      console.error(`${command.type} failed`, error);
      return { error: "unavailable" };
    }
  }

  /** Messages that came together, by HTTP. Where only some were taken, those are told. */
  async #sendAll({ conversation, messages }: CommandOf<"send">): Promise<CommandResults["send"] | Refusal> {
    const outcomes = await new Promise<(Sent | Refusal)[]>((resolve) => {
      const settled: (Sent | Refusal)[] = [];
      const settle = (outcome: Sent | Refusal): void => {
        if (settled.push(outcome) === messages.length) resolve(settled);
      };
      this.#sends.add(
        conversation,
        messages.map((message) => ({ ...message, ref: 0, settle })),
      );
    });
    const sent = outcomes.filter((outcome): outcome is Sent => !isRefusal(outcome));
    const refusal = outcomes.find(isRefusal);
    if (sent.length === 0 && refusal) return refusal;
    return { epoch: this.#feed.find(conversation)?.epoch ?? "", sent };
  }

  async #deliver(conversation: ConversationId, batch: readonly Outgoing<Socket>[]): Promise<Sent[] | Refusal> {
    const messages = batch.map(({ cid, body }) => ({ cid, body }));
    const result = await this.#gate.call(conversation, (stub) => {
      const { epoch = "", head = 0 } = this.#feed.find(conversation) ?? {};
      return stub.send(conversation, this.name, { type: "send", conversation, messages }, { epoch, head });
    });
    if (isRefusal(result)) return result;
    const places = new Map(result.sent.map((place) => [place.cid, place]));
    const own = batch.flatMap((outgoing) => {
      const place = places.get(outgoing.cid);
      return place ? [{ outgoing, place }] : [];
    });
    this.#take(result.notice, own);
    return result.sent;
  }

  async #mark({ conversation, ...marks }: CommandOf<"mark">): Promise<CommandResults["mark"] | Refusal> {
    const answer = await this.#stand(conversation, (stub) => stub.mark(conversation, this.name, marks));
    return isRefusal(answer) ? answer : { unread: answer.entry?.unread ?? answer.standing.unread ?? 0 };
  }

  async #hide({ conversation }: CommandOf<"hide">): Promise<CommandResults["hide"] | Refusal> {
    const answer = await this.#stand(conversation, (stub) => stub.hide(conversation, this.name));
    return isRefusal(answer) ? answer : { hidden: answer.standing.hidden };
  }

  #stand(conversation: ConversationId, ask: (stub: ConversationRpc) => Promise<Standing | Refusal>) {
    return this.#feed.stand<Refusal>(conversation, () => this.#gate.call<Standing>(conversation, ask), isStanding);
  }

  async #read<T extends object>(
    conversation: ConversationId,
    ask: (stub: ConversationRpc, user: Uuid) => Promise<T | Refusal>,
  ): Promise<T | Refusal> {
    return this.#limitReads() ?? this.#gate.call<T>(conversation, (stub) => ask(stub, this.name));
  }

  #limitReads(): Refusal | undefined {
    return this.#reads.take() ? undefined : { error: "rate_limited", retryAfterMs: this.#reads.waitMs() };
  }

  #take(notice: Notice, own?: Parameters<Feed["take"]>[1]): void {
    if (!this.#feed.take(notice, own)) return;
    // A number of the row is in doubt, after a crash between two writes: the conversation counts it anew.
    const nothing = { type: "mark", conversation: notice.conversation, delivered: 0, read: 0 } as const;
    this.ctx.waitUntil(this.#run(nothing));
  }
}

const codeOf = (issues: readonly v.BaseIssue<unknown>[]): ErrorCode =>
  issues.map((issue) => issue.message).find(isErrorCode) ?? "invalid_input";
