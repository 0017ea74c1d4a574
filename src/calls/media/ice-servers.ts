import type { IceServers } from "#contract/calls/ice.ts";

/**
 * Which of a device's addresses the other side may learn. `relayed`: a relay's alone. `withheld`: none for now; they are
 * gathered but neither sent nor used, because a connectivity check reveals the sender's address.
 */
export type AddressDisclosure = "all" | "relayed" | "withheld";

const renewAtShare = 0.7; // of the life of a relay's credentials
const renewRetryMs = 30_000;
const retryDelaysMs = [500, 1_000, 2_000] as const; // the last one again and again

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The relays and mirrors of a call, and whether it has to hide behind them, as far as the server said so. */
export class IceServerProvider {
  readonly #fetch: () => Promise<IceServers>;
  #current: IceServers | undefined;
  #pendingFetch: Promise<void> | undefined;
  #renewAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(ask: () => Promise<IceServers>) {
    this.#fetch = ask;
  }

  /** Once they are known: before, nobody can say whether an address may be told. */
  async whenReady(): Promise<void> {
    for (let tries = 0; !this.#current && !this.#isClosed; tries++) {
      if (tries > 0) await wait(retryDelaysMs[Math.min(tries, retryDelaysMs.length) - 1] ?? 0);
      await this.#refresh();
    }
  }

  /** Asks anew, and waits for the answer no longer than that. */
  refresh(ms: number): Promise<void> {
    return Promise.race([this.#refresh(), wait(ms)]);
  }

  /** Asks for new credentials before those of now end, once in a while: whether there are others than before. */
  async renewIfDue(now = performance.now()): Promise<boolean> {
    if (now < this.#renewAt || this.#isClosed) return false;
    this.#renewAt = now + renewRetryMs;
    const before = this.#current;
    await this.#refresh();
    if (this.#current === before) return false;
    if (this.hasRelay) return true;
    // The relay that there was may do still.
    this.#current = before;
    this.#renewAt = now + renewRetryMs;
    return false;
  }

  /** `isOpen`: other ways than relayed ones may be used, as far as this device need not hide. */
  getConfiguration(isRelayOnly: boolean, isOpen: boolean): RTCConfiguration {
    const { ice_servers = [], relays = false, hide = true } = this.#current ?? {};
    const isRelayed = hide || !isOpen || (isRelayOnly && relays);
    return { iceServers: ice_servers, iceTransportPolicy: isRelayed ? "relay" : "all" };
  }

  /** Whether there is a relay among them. */
  get hasRelay(): boolean {
    return this.#current?.relays ?? false;
  }

  /** What the other side may learn of this device; the callee's shows nothing of itself until its person accepts. */
  getDisclosure(isAccepted: boolean): AddressDisclosure {
    if (this.hidesAddress) return "relayed";
    if (isAccepted) return "all";
    return this.hasRelay ? "relayed" : "withheld";
  }

  /** Whether this device's address stays here. */
  get hidesAddress(): boolean {
    return this.#current?.hide ?? true;
  }

  close(): void {
    this.#isClosed = true;
  }

  #refresh(): Promise<void> {
    this.#pendingFetch ??= this.#fetch()
      .then((servers) => {
        this.#current = servers;
        this.#renewAt = performance.now() + servers.ttl * 1_000 * renewAtShare;
      })
      // Those that are known may still do; they are asked for again when a way has to be looked for.
      .catch(() => undefined)
      .finally(() => {
        this.#pendingFetch = undefined;
      });
    return this.#pendingFetch;
  }
}
