import type { IceServers } from "#contract/calls/ice.ts";

/**
 * Which of a device's addresses the other side may learn. `relayed`: a relay's alone. `withheld`: none for now; they are
 * gathered but neither sent nor used, because a connectivity check reveals the sender's address.
 */
export type Disclosure = "all" | "relayed" | "withheld";

const renewAtShare = 0.7; // of the life of a relay's credentials
const renewAgainMs = 30_000;
const againMs = [500, 1_000, 2_000] as const; // the last one again and again

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The relays and mirrors of a call, and whether it has to hide behind them, as far as the server said so. */
export class Servers {
  readonly #ask: () => Promise<IceServers>;
  #known: IceServers | undefined;
  #asking: Promise<void> | undefined;
  #renewAt = Number.POSITIVE_INFINITY;
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

  /** Asks for new credentials before those of now end, once in a while: whether there are others than before. */
  async renew(now = performance.now()): Promise<boolean> {
    if (now < this.#renewAt || this.#isClosed) return false;
    this.#renewAt = now + renewAgainMs;
    const before = this.#known;
    await this.#refresh();
    if (this.#known === before) return false;
    if (this.hasRelay) return true;
    // The relay that there was may do still.
    this.#known = before;
    this.#renewAt = now + renewAgainMs;
    return false;
  }

  /** `isOpen`: other ways than relayed ones may be used, as far as this device need not hide. */
  configuration(isRelayOnly: boolean, isOpen: boolean): RTCConfiguration {
    const { ice_servers = [], relays = false, hide = true } = this.#known ?? {};
    const isRelayed = hide || !isOpen || (isRelayOnly && relays);
    return { iceServers: ice_servers, iceTransportPolicy: isRelayed ? "relay" : "all" };
  }

  /** Whether there is a relay among them. */
  get hasRelay(): boolean {
    return this.#known?.relays ?? false;
  }

  /** What the other side may learn of this device; the callee's shows nothing of itself until its person accepts. */
  disclosure(isAccepted: boolean): Disclosure {
    if (this.isHiding) return "relayed";
    if (isAccepted) return "all";
    return this.hasRelay ? "relayed" : "withheld";
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
        this.#renewAt = performance.now() + servers.ttl * 1_000 * renewAtShare;
      })
      // Those that are known may still do; they are asked for again when a way has to be looked for.
      .catch(() => undefined)
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }
}
