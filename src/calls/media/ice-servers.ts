import type { IceServers } from "#contract/calls/ice.ts";
import { sleep } from "#lib/browser/time/sleep.ts";

/**
 * Addresses of this device that the other side may learn. `relayed`: only a relay's. `withheld`: none yet; candidates
 * are gathered but neither sent nor used, because a connectivity check reveals the sender's address.
 */
export type AddressDisclosure = "all" | "relayed" | "withheld";

const renewAtShare = 0.7; // of the lifetime of the relay credentials
const renewRetryMs = 30_000;
const retryDelaysMs = [500, 1_000, 2_000] as const; // the last one repeats

/** Fetches and renews the STUN and TURN servers of a call, and knows whether the address must be hidden. */
export class IceServerProvider {
  readonly #fetch: () => Promise<IceServers>;
  #current: IceServers | undefined;
  #pendingFetch: Promise<void> | undefined;
  #renewAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(fetch: () => Promise<IceServers>) {
    this.#fetch = fetch;
  }

  /** Resolves once the servers are known. Before, it is unknown whether an address may be disclosed. */
  async whenReady(): Promise<void> {
    for (let attempt = 0; !this.#current && !this.#isClosed; attempt++) {
      if (attempt > 0) await sleep(retryDelaysMs[Math.min(attempt, retryDelaysMs.length) - 1] ?? 0);
      await this.#refresh();
    }
  }

  /** Fetches the servers again, and waits at most `ms` for the response. */
  refresh(ms: number): Promise<void> {
    return Promise.race([this.#refresh(), sleep(ms)]);
  }

  /** Fetches new credentials before the current ones expire. Returns whether the servers changed. */
  async renewIfDue(now = performance.now()): Promise<boolean> {
    if (now < this.#renewAt || this.#isClosed) return false;
    this.#renewAt = now + renewRetryMs;
    const previous = this.#current;
    await this.#refresh();
    if (this.#current === previous) return false;
    if (this.hasRelay) return true;
    // The old relay may still work.
    this.#current = previous;
    this.#renewAt = now + renewRetryMs;
    return false;
  }

  /**
   * Configuration for RTCPeerConnection. `isOpen`: candidates other than relayed ones may be used, unless the address
   * is hidden.
   */
  getConfiguration(isRelayOnly: boolean, isOpen: boolean): RTCConfiguration {
    const { ice_servers = [], relays = false, hide = true } = this.#current ?? {};
    const isRelayed = hide || !isOpen || (isRelayOnly && relays);
    return { iceServers: ice_servers, iceTransportPolicy: isRelayed ? "relay" : "all" };
  }

  /** Whether a relay is available. */
  get hasRelay(): boolean {
    return this.#current?.relays ?? false;
  }

  /** Disclosure of this device's addresses. A callee discloses none before accepting the call. */
  getDisclosure(isAccepted: boolean): AddressDisclosure {
    if (this.hidesAddress) return "relayed";
    if (isAccepted) return "all";
    return this.hasRelay ? "relayed" : "withheld";
  }

  /** Whether this device's address must not be disclosed. */
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
      // The known servers may still work, and are fetched again at the next ICE restart.
      .catch(() => undefined)
      .finally(() => {
        this.#pendingFetch = undefined;
      });
    return this.#pendingFetch;
  }
}
