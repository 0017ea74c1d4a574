import { logError } from "#worker/lib/log.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import { releaseDeletedFiles } from "./file-release-queue.ts";

/** Releases file references in the directory, one run at a time. A run repeats if more were queued meanwhile. */
export class FileRelease {
  readonly #env: Pick<Env, "DB" | "FILES">;
  readonly #onFailure: () => void;
  /** Whether the queue may hold unreleased files. */
  #isDue = false;
  #running: Promise<void> | undefined;

  constructor(env: Pick<Env, "DB" | "FILES">, onFailure: () => void) {
    this.#env = env;
    this.#onFailure = onFailure;
  }

  /** Marks that the queue has entries. */
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
      logError("releasing a file failed", error);
      this.#onFailure();
    }
  }
}
