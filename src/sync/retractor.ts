import { type Context, takeIn } from "./context";
import { askByHttp } from "./http-carrier";
import { toRetracted } from "./retracted";
import { Retry } from "./retry";
import { asSyncError, isWorthRetry } from "./sync-error";
import { forgetWithdrawn, listWithdrawn, type Withdrawn } from "./withdrawn";

/** Deletes for everybody what its author had deleted while it was on its way, again and again until the server has it. */
export class Retractor {
  readonly #context: Context;
  readonly #work: Retry;

  constructor(context: Context) {
    this.#context = context;
    this.#work = new Retry(context.platform, () => this.#next());
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

  async #next(): Promise<"done" | "again"> {
    const { strict } = this.#context;
    const arrived = (await listWithdrawn(strict)).find(({ place }) => place);
    if (!arrived) return "done";
    await this.#retract(arrived);
    await forgetWithdrawn(strict, arrived.cid);
    return "again";
  }

  async #retract({ conversation, place }: Withdrawn): Promise<void> {
    const { store, platform } = this.#context;
    const row = await store.conversations.get(conversation);
    if (!place || (row?.epoch && row.epoch !== place.epoch)) return; // in another log its number is another message's
    const { seq } = place;
    try {
      const { revision } = await askByHttp(platform, { type: "retract", conversation, seq });
      const change = await toRetracted(store, conversation, seq, revision);
      if (change) await takeIn(this.#context, [change]);
    } catch (error) {
      if (isWorthRetry(asSyncError(error))) throw error;
    }
  }
}
