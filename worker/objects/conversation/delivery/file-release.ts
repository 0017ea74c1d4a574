import { logError } from "#worker/lib/log.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { releaseDeletedFiles } from "./file-release-queue.ts";

/** Tells the directory of files that are named no more: one round at a time, and another when something came meanwhile. */
export class FileRelease {
  readonly #env: Pick<Env, "DB" | "FILES">;
  readonly #onFailure: () => void;
  /** There may be files that deleted messages named and nobody was told of. */
  #isDue = false;
  #running: Promise<void> | undefined;

  constructor(env: Pick<Env, "DB" | "FILES">, onFailure: () => void) {
    this.#env = env;
    this.#onFailure = onFailure;
  }

  /** There are more. */
  markDue(): void {
    this.#isDue = true;
  }

  run(log: ConversationLog): Promise<void> {
    this.#running ??= this.#run(log).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(log: ConversationLog): Promise<void> {
    try {
      while (this.#isDue) {
        this.#isDue = false;
        await releaseDeletedFiles(this.#env, log);
      }
    } catch (error) {
      this.#isDue = true;
      logError("a file could not be released", error);
      this.#onFailure();
    }
  }
}
