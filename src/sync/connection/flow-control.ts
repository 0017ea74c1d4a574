import { creditBytes, creditReportMessages } from "#contract/limits/sockets.ts";

const processedReportBytes = creditBytes / 4;

/** Messages and bytes processed on one socket, for the reports that renew the server's credit (flow control). */
export class ProcessedCounter {
  #processed = 0;
  #reported = 0;
  #unreportedBytes = 0;

  reset(): void {
    this.#processed = 0;
    this.#reported = 0;
    this.#unreportedBytes = 0;
  }

  /** Marks all messages processed since the welcome as reported and returns their number, to be reported again. */
  repeatReport(): number {
    this.#reported = this.#processed;
    return this.#processed;
  }

  /**
   * Counts processed messages and bytes. Returns the total to report once enough has accumulated, else undefined.
   * `isBehind`: the server waits for the report, so any unreported message is due.
   */
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
