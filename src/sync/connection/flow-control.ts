import { creditBytes, creditReportMessages } from "#contract/limits.ts";

const processedReportBytes = creditBytes / 4;

/** What one socket brought and the server has not been told of as taken in. */
export class ProcessedCounter {
  #processed = 0;
  #reported = 0;
  #unreportedBytes = 0;

  reset(): void {
    this.#processed = 0;
    this.#reported = 0;
    this.#unreportedBytes = 0;
  }

  /** All messages taken in since the welcome, to be confirmed again. */
  repeatReport(): number {
    this.#reported = this.#processed;
    return this.#processed;
  }

  /** Counts what was taken in; answers how many messages are to be confirmed once it is a good deal. `isBehind`: the server waits for it. */
  add(messages: number, bytes: number, isBehind: boolean): number | undefined {
    this.#processed += messages;
    this.#unreportedBytes += bytes;
    const isDue =
      this.#processed - this.#reported >= creditReportMessages || this.#unreportedBytes >= processedReportBytes;
    if (!isDue && !(isBehind && this.#processed > this.#reported)) return undefined;
    this.#reported = this.#processed;
    this.#unreportedBytes = 0;
    return this.#processed;
  }
}
