import type { CallSyncPort } from "#calls/link.ts";

const nudgeIntervalMs = 2_000;

/** While there is a call the way to the server is tried again and again: whoever is called cannot wait for a back-off. */
export class ReconnectNudge {
  readonly #sync: Pick<CallSyncPort, "connectionState" | "platform" | "checkConnection">;
  #unsubscribe: (() => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(link: Pick<CallSyncPort, "connectionState" | "platform" | "checkConnection">) {
    this.#sync = link;
  }

  setActive(isWanted: boolean): void {
    if (isWanted === (this.#unsubscribe !== undefined)) return;
    this.#unsubscribe?.();
    this.#unsubscribe = isWanted ? this.#sync.connectionState.subscribe(() => this.#update()) : undefined;
    this.#update();
  }

  #update(): void {
    if (!this.#unsubscribe || this.#sync.connectionState.get() === "online") {
      this.#cancel?.();
      this.#cancel = undefined;
    } else {
      this.#cancel ??= this.#sync.platform.startTimer(nudgeIntervalMs, () => {
        this.#cancel = undefined;
        this.#sync.checkConnection();
        this.#update();
      });
    }
  }
}
