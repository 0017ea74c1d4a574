import { isPermanentError } from "#contract/errors.ts";
import { type ConversationId, deletedUserId, otherMember, type Uuid } from "#contract/ids.ts";
import { sendBurst, sendPerSecond, sendUnwrittenMax } from "#contract/limits/messages.ts";
import {
  anonymousForward,
  type Body,
  type Forwarded,
  findAttachment,
  parseGroupPlace,
  withReply,
} from "#contract/messages/body.ts";
import {
  type CommandOf,
  type CommandResults,
  isRefusal,
  type MulticastResult,
  type Refusal,
} from "#contract/wire/commands.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { addFileReference, cancelFileReference } from "#worker/db/files.ts";
import { findUsername, insertForward } from "#worker/db/forwards.ts";
import { logError } from "#worker/lib/log.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import type { CheckedMessage } from "#worker/objects/rpc/messages.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";
import { StoredBucket } from "#worker/objects/shared/stored-bucket.ts";
import type { InboxFeed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { ClientSocket } from "#worker/objects/user-channel/sockets/socket-state.ts";
import { BodyChecks } from "./body-checks.ts";
import type { ConversationGateway } from "./conversation-gateway.ts";
import { type BatchOutcome, type QueuedMessage, SendQueue, type SentMessage } from "./send-queue.ts";

/** The socket and ref of a message, empty for HTTP. */
type MessageOrigin = { source?: ClientSocket; ref: number };
type QueuedBatch = readonly QueuedMessage<ClientSocket>[];

type MessageDispatcherPorts = {
  env: Pick<Env, "DB">;
  user: Uuid;
  gateway: ConversationGateway;
  inbox: InboxFeed;
  meta: KeyValues;
  /** Multiple of the production send limit. */
  factor: number;
  /** Called when a message to this conversation arrives, before its outcome is known. */
  onMessage(conversation: ConversationId): void;
};

const httpOrigin: MessageOrigin = { ref: 0 };

const isSameAttribution = (a: Forwarded | undefined, b: Forwarded | undefined): boolean =>
  a?.by === b?.by && a?.name === b?.name;

/** Sends a person's messages: verifies them, passes them to the conversation and applies the result to the inbox. */
export class MessageDispatcher {
  readonly #ports: MessageDispatcherPorts;
  readonly #checks: BodyChecks;
  readonly #queue: SendQueue<ClientSocket>;

  constructor(ports: MessageDispatcherPorts) {
    this.#ports = ports;
    const { meta, factor } = ports;
    const [burst, perSecond] = [sendBurst * factor, sendPerSecond * factor];
    const limit = new StoredBucket(meta, "sends", { burst, perSecond, unwrittenMax: sendUnwrittenMax * factor });
    this.#queue = new SendQueue((conversation, batch) => this.#deliver(conversation, batch), limit);
    this.#checks = new BodyChecks(ports.env, ports.user, ({ conversation, seq }) =>
      ports.gateway.call(conversation, (stub) => stub.findOriginal(ports.user, seq)),
    );
  }

  /** Sends messages. `settle` receives the outcome of each. */
  send(
    { conversation, messages }: CommandOf<"send">,
    origin: MessageOrigin,
    settle: QueuedMessage<ClientSocket>["settle"],
  ): void {
    this.#ports.onMessage(conversation);
    this.#queue.enqueue(
      conversation,
      messages.map(({ cid, body: sentBody, source }) => {
        const body = source ? withReply(sentBody, undefined) : sentBody;
        return { cid, body, check: this.#checks.createCheck(body, source), ...origin, settle };
      }),
    );
  }

  /**
   * Sends one body, verified once, to many conversations. `originOf` and `settle` identify messages by their index in
   * `to`.
   */
  multicast(
    { body: sentBody, source, to }: CommandOf<"multicast">,
    originOf: (index: number) => MessageOrigin,
    settle: (outcome: SentMessage | Refusal, index: number) => void,
  ): void {
    const body = withReply(sentBody, undefined); // a reply belongs to one conversation
    const check = this.#checks.createCheck(body, source);
    for (const [index, { conversation, cid }] of to.entries()) {
      this.#ports.onMessage(conversation);
      const settleOne = (outcome: SentMessage | Refusal) => settle(outcome, index);
      this.#queue.enqueue(conversation, [{ cid, body, check, ...originOf(index), settle: settleOne }]);
    }
  }

  /** Sends messages of an HTTP request. If only some are accepted, the result lists those. */
  async sendAndWait(command: CommandOf<"send">): Promise<CommandResults["send"] | Refusal> {
    const outcomes = await new Promise<(SentMessage | Refusal)[]>((resolve) => {
      const settled: (SentMessage | Refusal)[] = [];
      this.send(command, httpOrigin, (outcome) => {
        if (settled.push(outcome) === command.messages.length) resolve(settled);
      });
    });
    const sent = outcomes.filter((outcome): outcome is SentMessage => !isRefusal(outcome));
    const refusal = outcomes.find(isRefusal);
    if (sent.length === 0 && refusal) return refusal;
    return { epoch: this.#ports.inbox.find(command.conversation)?.epoch ?? "", sent };
  }

  async multicastAndWait(command: CommandOf<"multicast">): Promise<MulticastResult> {
    const outcomes = await new Promise<Map<number, SentMessage | Refusal>>((resolve) => {
      const settled = new Map<number, SentMessage | Refusal>();
      this.multicast(
        command,
        () => httpOrigin,
        (outcome, index) => {
          if (settled.set(index, outcome).size === command.to.length) resolve(settled);
        },
      );
    });
    const result: MulticastResult = { sent: [], refused: [] };
    for (const [index, { conversation, cid }] of command.to.entries()) {
      const outcome = outcomes.get(index);
      if (outcome && isRefusal(outcome)) result.refused.push({ cid, ...outcome });
      else if (outcome) {
        const { epoch = "" } = this.#ports.inbox.find(conversation) ?? {};
        result.sent.push({ conversation, epoch, cid, seq: outcome.seq, at: outcome.at });
      }
    }
    return result;
  }

  async #deliver(conversation: ConversationId, batch: QueuedBatch): Promise<BatchOutcome | Refusal> {
    const { gateway, inbox, user } = this.#ports;
    const filesByCid = new Map<Uuid, Uuid>();
    const send = async (stub: ConversationRpc) => {
      const messages = await this.#checkBatch(conversation, batch, filesByCid);
      const { epoch = "", head = 0, revision = 0 } = inbox.find(conversation) ?? {};
      return stub.sendMessages(user, messages, { epoch, head, revision });
    };
    const result = await gateway.call(conversation, send, { isMessage: true });
    if (isRefusal(result)) {
      if (isPermanentError(result.error))
        await this.#cancelFileReferences(conversation, filesByCid, [...filesByCid.keys()]);
      return result;
    }
    const acks = new Map(result.sent.map((ack) => [ack.cid, ack]));
    const ownMessages = batch.flatMap((outgoing) => {
      const ack = acks.get(outgoing.cid);
      return ack ? [{ outgoing, ack }] : [];
    });
    await inbox.applyNotice(result.notice, ownMessages);
    await this.#cancelFileReferences(conversation, filesByCid, result.cidsWithoutFile);
    return result;
  }

  /** Verifies a batch for the conversation and adds references to its files. `filesByCid` receives them. */
  async #checkBatch(
    conversation: ConversationId,
    batch: QueuedBatch,
    filesByCid: Map<Uuid, Uuid>,
  ): Promise<CheckedMessage[]> {
    if (!batch.some(({ check, body }) => check || parseGroupPlace(body.reply)))
      return batch.map(({ cid, body }) => ({ cid, body }));
    const db = openDb(this.#ports.env);
    const checkMessage = async ({ cid, body, check }: QueuedMessage<ClientSocket>): Promise<CheckedMessage> => {
      const result = (await check?.()) ?? body;
      if (isRefusal(result)) return { cid, body, refusal: result };
      const attributed = await this.#resolveAuthor(db, conversation, result);
      const checkedBody = await this.#checkGroupReply(conversation, attributed);
      const isCorrected = checkedBody !== attributed || !isSameAttribution(attributed.forwarded, body.forwarded);
      const checked: CheckedMessage = { cid, body: checkedBody, isCorrected };
      const { file } = findAttachment(attributed) ?? {};
      if (file === undefined) return checked;
      if (!(await addFileReference(db, file, conversation, cid))) {
        return { cid, body, refusal: { error: attributed.forwarded ? "original_gone" : "file_not_found" } };
      }
      filesByCid.set(cid, file);
      return checked;
    };
    // A message that cannot be verified now does not delay the others.
    const unavailable = ({ cid, body }: QueuedMessage<ClientSocket>, error: unknown): CheckedMessage => {
      logError("verifying a message failed", error);
      return { cid, body, refusal: { error: "unavailable" } };
    };
    return Promise.all(
      batch.map((message) => checkMessage(message).catch((error: unknown) => unavailable(message, error))),
    );
  }

  /**
   * Sets the name of the original author as this person knows it, whatever their device claims, and records the forward
   * in the directory. A former contact, or somebody who blocks this person, has the name from then. Deleted authors
   * become anonymous.
   */
  async #resolveAuthor(db: Db, conversation: ConversationId, body: Body): Promise<Body> {
    const { by: authorId } = body.forwarded ?? anonymousForward;
    if (authorId === deletedUserId) return body;
    const { user, inbox } = this.#ports;
    const present =
      authorId === user ? await findUsername(db, authorId) : await insertForward(db, authorId, conversation, user);
    if (present === undefined) return { ...body, forwarded: anonymousForward };
    return { ...body, forwarded: { by: authorId, name: inbox.findName(authorId) || present } };
  }

  /** Body without a reply to a message of a group, unless the peer wrote it and both people are members. */
  async #checkGroupReply(conversation: ConversationId, body: Body): Promise<Body> {
    const { gateway, user } = this.#ports;
    const place = parseGroupPlace(body.reply);
    if (!place) return body;
    const peer = otherMember(conversation, user);
    if (peer === undefined) return withReply(body, undefined);
    const answer = await gateway.call(place.group, (group) => group.mayAnswerInPrivate(user, peer, place.seq));
    if (isRefusal(answer) && !isPermanentError(answer.error))
      throw new Error("the answered message cannot be read now");
    return !isRefusal(answer) && answer.isAllowed ? body : withReply(body, undefined);
  }

  /** Cancels file references of messages that were not stored. A failure only wastes storage. */
  async #cancelFileReferences(
    conversation: ConversationId,
    filesByCid: ReadonlyMap<Uuid, Uuid>,
    cids: readonly Uuid[],
  ): Promise<void> {
    for (const cid of cids) {
      const file = filesByCid.get(cid);
      if (file === undefined) continue;
      await cancelFileReference(openDb(this.#ports.env), file, conversation, cid).catch((error: unknown) =>
        logError("cancelling a file reference failed", error),
      );
    }
  }
}
