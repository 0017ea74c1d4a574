import { type Context, inBackground } from "./context";
import type { Uploader, UploaderEvents } from "./uploader";

/** The leader's uploader, loaded once there is something to upload. */
export class Uploads {
  readonly #context: Context;
  readonly #events: UploaderEvents;
  #uploader: Uploader | undefined;
  #isStopped = false;

  constructor(context: Context, events: UploaderEvents) {
    this.#context = context;
    this.#events = events;
  }

  /** Something was attached, paused, resumed or given up. */
  want(): void {
    if (this.#uploader) this.#uploader.want();
    else inBackground(this.#context, this.#load());
  }

  /** The link is there: what waited for its turn is tried now. */
  hurry(): void {
    if (this.#uploader) this.#uploader.hurry();
    else this.want();
  }

  stop(): void {
    this.#isStopped = true;
    this.#uploader?.stop();
  }

  async #load(): Promise<void> {
    if ((await this.#context.store.uploads.count()) === 0) return;
    // Without a network, what was never loaded cannot be had: once there is one, this is wanted again.
    const loaded = await import("./uploader").catch(() => undefined);
    if (!loaded || this.#isStopped || this.#uploader) return;
    this.#uploader = new loaded.Uploader(this.#context, this.#events);
    this.#uploader.want();
  }
}
