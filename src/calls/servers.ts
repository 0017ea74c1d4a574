import type { IceServers } from "../../contract/ice";

const againMs = [500, 1_000, 2_000] as const; // the last one again and again

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The relays and mirrors of a call, and whether it has to hide behind them, as far as the server said so. */
export class Servers {
  readonly #ask: () => Promise<IceServers>;
  #known: IceServers | undefined;
  #asking: Promise<void> | undefined;
  #isClosed = false;

  constructor(ask: () => Promise<IceServers>) {
    this.#ask = ask;
  }

  /** Once they are known: before, nobody can say whether an address may be told. */
  async ready(): Promise<void> {
    for (let tries = 0; !this.#known && !this.#isClosed; tries++) {
      if (tries > 0) await after(againMs[Math.min(tries, againMs.length) - 1] ?? 0);
      await this.#refresh();
    }
  }

  /** Asks anew, and waits for the answer no longer than that. */
  refresh(ms: number): Promise<void> {
    return Promise.race([this.#refresh(), after(ms)]);
  }

  configuration(isRelayOnly = false): RTCConfiguration {
    const { ice_servers = [], relays = false, hide = true } = this.#known ?? {};
    return { iceServers: ice_servers, iceTransportPolicy: hide || (isRelayOnly && relays) ? "relay" : "all" };
  }

  /** Whether this device's address stays here. */
  get isHiding(): boolean {
    return this.#known?.hide ?? true;
  }

  close(): void {
    this.#isClosed = true;
  }

  #refresh(): Promise<void> {
    this.#asking ??= this.#ask()
      .then((servers) => {
        this.#known = servers;
      })
      // Those that are known may still do; they are asked for again when a way has to be looked for.
      .catch(() => undefined)
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
