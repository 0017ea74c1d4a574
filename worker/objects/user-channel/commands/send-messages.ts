import { attachmentOf, type Body, type Forwarded, forwardedOfNobody } from "#contract/conversations.ts";
import { isPermanent } from "#contract/errors.ts";
import { type ConversationId, nobody, type Uuid } from "#contract/ids.ts";
import { sendBurst, sendPerSecond, sendUnwrittenMax } from "#contract/limits.ts";
import {
  type CommandOf,
  type CommandResults,
  isRefusal,
  type Refusal,
  type SpreadResult,
} from "#contract/wire/commands.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { insertUse, withdrawUse } from "#worker/db/files.ts";
import { findName, insertForward } from "#worker/db/forwards.ts";
import { logError } from "#worker/lib/log.ts";
import type { Checked, Notice } from "#worker/objects/rpc.ts";
import type { Meta } from "#worker/objects/shared/key-values.ts";
import { StoredBucket } from "#worker/objects/shared/stored-bucket.ts";
import type { Own } from "#worker/objects/user-channel/inbox/change-push.ts";
import type { Feed } from "#worker/objects/user-channel/inbox/inbox-feed.ts";
import type { Socket } from "#worker/objects/user-channel/sockets/socket-registry.ts";
import { BodyChecks } from "./body-checks.ts";
import type { Gate } from "./conversation-gateway.ts";
import { type Delivered, type Outgoing, SendQueue, type Sent } from "./send-queue.ts";

/** The socket that brought a message, with its ref; nothing of the kind by HTTP. */
type From = { source?: Socket; ref: number };
type Batch = readonly Outgoing<Socket>[];

type Host = {
  env: Pick<Env, "DB">;
  user: Uuid;
  gate: Gate;
  feed: Feed;
  meta: Meta;
  /** How many times as much as in production may be sent. */
  factor: number;
  take(notice: Notice, own: readonly Own[]): Promise<void>;
  /** A message to this conversation has come; what becomes of it is not known yet. */
  heard(conversation: ConversationId): void;
};

const byHttp: From = { ref: 0 };

const isSameMark = (a: Forwarded | undefined, b: Forwarded | undefined): boolean =>
  a?.by === b?.by && a?.name === b?.name;

/** A person's messages from the command that brought them to the inbox that shows them. */
export class Sending {
  readonly #host: Host;
  readonly #checks: BodyChecks;
  readonly #queue: SendQueue<Socket>;

  constructor(host: Host) {
    this.#host = host;
    const { meta, factor } = host;
    const [burst, perSecond] = [sendBurst * factor, sendPerSecond * factor];
    const limit = new StoredBucket(meta, "sends", { burst, perSecond, unwrittenMax: sendUnwrittenMax * factor });
    this.#queue = new SendQueue((conversation, batch) => this.#deliver(conversation, batch), limit);
    this.#checks = new BodyChecks(host.env, host.user, ({ conversation, seq }) =>
      host.gate.call(conversation, (stub) => stub.original(conversation, host.user, seq)),
    );
  }

  /** `settle` hears what became of each message. */
  send({ conversation, messages }: CommandOf<"send">, from: From, settle: Outgoing<Socket>["settle"]): void {
    this.#host.heard(conversation);
    this.#queue.add(
      conversation,
      messages.map(({ cid, body, source }) => ({ cid, body, check: this.#checks.of(body, source), ...from, settle })),
    );
  }

  /** One body to many; it is looked at once. `fromOf` and `settle` know each message by its place in `to`. */
  spread(
    { body, source, to }: CommandOf<"spread">,
    fromOf: (index: number) => From,
    settle: (outcome: Sent | Refusal, index: number) => void,
  ): void {
    const check = this.#checks.of(body, source);
    for (const [index, { conversation, cid }] of to.entries()) {
      this.#host.heard(conversation);
      const settleOne = (outcome: Sent | Refusal) => settle(outcome, index);
      this.#queue.add(conversation, [{ cid, body, check, ...fromOf(index), settle: settleOne }]);
    }
  }

  /** Messages that came together, by HTTP. Where only some were taken, those are told. */
  async sendAll(command: CommandOf<"send">): Promise<CommandResults["send"] | Refusal> {
    const outcomes = await new Promise<(Sent | Refusal)[]>((resolve) => {
      const settled: (Sent | Refusal)[] = [];
      this.send(command, byHttp, (outcome) => {
        if (settled.push(outcome) === command.messages.length) resolve(settled);
      });
    });
    const sent = outcomes.filter((outcome): outcome is Sent => !isRefusal(outcome));
    const refusal = outcomes.find(isRefusal);
    if (sent.length === 0 && refusal) return refusal;
    return { epoch: this.#host.feed.find(command.conversation)?.epoch ?? "", sent };
  }

  async spreadAll(command: CommandOf<"spread">): Promise<SpreadResult> {
    const outcomes = await new Promise<Map<number, Sent | Refusal>>((resolve) => {
      const settled = new Map<number, Sent | Refusal>();
      this.spread(
        command,
        () => byHttp,
        (outcome, index) => {
          if (settled.set(index, outcome).size === command.to.length) resolve(settled);
        },
      );
    });
    const result: SpreadResult = { sent: [], refused: [] };
    for (const [index, { conversation, cid }] of command.to.entries()) {
      const outcome = outcomes.get(index);
      if (outcome && isRefusal(outcome)) result.refused.push({ cid, ...outcome });
      else if (outcome) result.sent.push({ conversation, cid, seq: outcome.seq, at: outcome.at });
    }
    return result;
  }

  async #deliver(conversation: ConversationId, batch: Batch): Promise<Delivered | Refusal> {
    const { gate, feed, user } = this.#host;
    const uses = new Map<Uuid, Uuid>();
    const result = await gate.call(conversation, async (stub) => {
      const messages = await this.#check(conversation, batch, uses);
      const { epoch = "", head = 0, revision = 0 } = feed.find(conversation) ?? {};
      return stub.send(conversation, user, messages, { epoch, head, revision });
    });
    if (isRefusal(result)) {
      if (isPermanent(result.error)) await this.#withdraw(conversation, uses, [...uses.keys()]);
      return result;
    }
    const places = new Map(result.sent.map((place) => [place.cid, place]));
    const own = batch.flatMap((outgoing) => {
      const place = places.get(outgoing.cid);
      return place ? [{ outgoing, place }] : [];
    });
    await this.#host.take(result.notice, own);
    await this.#withdraw(conversation, uses, result.unused);
    return result;
  }

  /** The batch as the conversation is to hear it. Files that it names are kept from here on; `uses` tells which. */
  async #check(conversation: ConversationId, batch: Batch, uses: Map<Uuid, Uuid>): Promise<Checked[]> {
    if (!batch.some(({ check }) => check)) return batch.map(({ cid, body }) => ({ cid, body }));
    const db = openDb(this.#host.env);
    const checkOne = async ({ cid, body, check }: Outgoing<Socket>): Promise<Checked> => {
      const looked = (await check?.()) ?? body;
      if (isRefusal(looked)) return { cid, body, refusal: looked };
      const known = await this.#sign(db, conversation, looked);
      const checked = { cid, body: known, unsigned: !isSameMark(known.forwarded, body.forwarded) };
      const { file } = attachmentOf(known) ?? {};
      if (file === undefined) return checked;
      if (!(await insertUse(db, file, conversation, cid))) {
        return { cid, body, refusal: { error: known.forwarded ? "original_gone" : "file_not_found" } };
      }
      uses.set(cid, file);
      return checked;
    };
    // What cannot be looked at now keeps none of the others waiting.
    const unavailable = ({ cid, body }: Outgoing<Socket>, error: unknown): Checked => {
      logError("what a message says could not be looked at", error);
      return { cid, body, refusal: { error: "unavailable" } };
    };
    return Promise.all(batch.map((one) => checkOne(one).catch((error: unknown) => unavailable(one, error))));
  }

  /**
   * A body as it may say who wrote it first: by the name that the directory has for them, whatever the sender calls them,
   * and which is found again from here on; or as nobody's.
   */
  async #sign(db: Db, conversation: ConversationId, body: Body): Promise<Body> {
    const { by } = body.forwarded ?? forwardedOfNobody;
    if (by === nobody) return body;
    const name = by === this.#host.user ? await findName(db, by) : await insertForward(db, by, conversation);
    return { ...body, forwarded: name === undefined ? forwardedOfNobody : { by, name } };
  }

  /** These messages name no file after all. What fails here costs room and nothing else. */
  async #withdraw(conversation: ConversationId, uses: ReadonlyMap<Uuid, Uuid>, cids: readonly Uuid[]): Promise<void> {
    for (const cid of cids) {
      const file = uses.get(cid);
      if (file === undefined) continue;
      await withdrawUse(openDb(this.#host.env), file, conversation, cid).catch((error: unknown) =>
        logError("the use of a file could not be taken back", error),
      );
    }
  }
}
