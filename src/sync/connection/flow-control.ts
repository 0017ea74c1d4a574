import { creditBytes, creditReportMessages } from "#contract/limits.ts";

const creditReportBytes = creditBytes / 4;

/** What one socket brought and the server has not been told of as taken in. */
export class Credit {
  #messages = 0;
  #reported = 0;
  #bytes = 0;

  reset(): void {
    this.#messages = 0;
    this.#reported = 0;
    this.#bytes = 0;
  }

  /** All messages taken in since the welcome, to be confirmed again. */
  repeat(): number {
    this.#reported = this.#messages;
    return this.#messages;
  }

  /** Counts what was taken in; answers how many messages are to be confirmed once it is a good deal. `isBehind`: the server waits for it. */
  take(messages: number, bytes: number, isBehind: boolean): number | undefined {
    this.#messages += messages;
    this.#bytes += bytes;
    const isDue = this.#messages - this.#reported >= creditReportMessages || this.#bytes >= creditReportBytes;
    if (!isDue && !(isBehind && this.#messages > this.#reported)) return undefined;
    this.#reported = this.#messages;
    this.#bytes = 0;
    return this.#messages;
  }
}
