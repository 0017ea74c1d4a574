import type { CallSyncPort } from "#calls/sync-port.ts";

const nudgeIntervalMs = 2_000;

/**
 * Retries the connection to the server every `nudgeIntervalMs` during a call, because a call cannot wait for the
 * regular backoff.
 */
export class ReconnectNudge {
  readonly #sync: Pick<CallSyncPort, "connectionState" | "platform" | "checkConnection">;
  #unsubscribe: (() => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(sync: Pick<CallSyncPort, "connectionState" | "platform" | "checkConnection">) {
    this.#sync = sync;
  }

  setActive(isActive: boolean): void {
    if (isActive === (this.#unsubscribe !== undefined)) return;
    this.#unsubscribe?.();
    this.#unsubscribe = isActive ? this.#sync.connectionState.subscribe(() => this.#update()) : undefined;
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
