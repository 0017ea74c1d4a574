import type { CallLink } from "#calls/link.ts";

const lookMs = 2_000;

/** While there is a call the way to the server is tried again and again: whoever is called cannot wait for a back-off. */
export class Way {
  readonly #link: Pick<CallLink, "state" | "platform" | "look">;
  #unsubscribe: (() => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(link: Pick<CallLink, "state" | "platform" | "look">) {
    this.#link = link;
  }

  want(isWanted: boolean): void {
    if (isWanted === (this.#unsubscribe !== undefined)) return;
    this.#unsubscribe?.();
    this.#unsubscribe = isWanted ? this.#link.state.subscribe(() => this.#try()) : undefined;
    this.#try();
  }

  #try(): void {
    if (!this.#unsubscribe || this.#link.state.get() === "online") {
      this.#cancel?.();
      this.#cancel = undefined;
    } else {
      this.#cancel ??= this.#link.platform.after(lookMs, () => {
        this.#cancel = undefined;
        this.#link.look();
        this.#try();
      });
    }
  }
}
