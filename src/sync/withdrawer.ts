import { type Context, takeIn } from "./context";
import { askByHttp } from "./http-carrier";
import { Retry } from "./retry";
import { ownMessage } from "./rows";
import { asSyncError, isWorthRetry } from "./sync-error";
import { forgetWithdrawn, listWithdrawn, type Withdrawn } from "./withdrawn";

/** A server that has not learned of withdrawals yet may by tomorrow. */
const isUnknown = (code: string): boolean => code === "not_found" || code === "method_not_allowed";

/** Tells the server what its author deleted while it was on its way, again and again until the server has heard it. */
export class Withdrawer {
  readonly #context: Context;
  readonly #work: Retry;

  constructor(context: Context) {
    this.#context = context;
    this.#work = new Retry(context.platform, () => this.#tellAll());
  }

  want(): void {
    this.#work.want();
  }

  hurry(): void {
    this.#work.hurry();
  }

  stop(): void {
    this.#work.stop();
  }

  /** One that cannot be told now keeps none of the others waiting. */
  async #tellAll(): Promise<"done" | "retry"> {
    const { strict } = this.#context;
    let isDone = true;
    for (const withdrawn of await listWithdrawn(strict)) {
      const isTold = await this.#tell(withdrawn).catch(() => false);
      if (isTold) await forgetWithdrawn(strict, withdrawn.cid);
      isDone &&= isTold;
    }
    return isDone ? "done" : "retry";
  }

  /** Whether there is nothing left to tell: what the server refuses for good is not there for this person to delete. */
  async #tell({ conversation, cid }: Withdrawn): Promise<boolean> {
    const { store, platform, me } = this.#context;
    try {
      const { revision, place } = await askByHttp(platform, { type: "withdraw", conversation, cid });
      const row = place && (await store.conversations.get(conversation));
      if (!row) return true;
      const message = ownMessage(row, me, { cid, ...place, body: { type: "deleted" } });
      await takeIn(this.#context, [
        { type: "changed", of: conversation, since: revision - 1, revision, messages: [message] },
      ]);
      return true;
    } catch (error) {
      const failure = asSyncError(error);
      return !isWorthRetry(failure) && !isUnknown(failure.code);
    }
  }
}
