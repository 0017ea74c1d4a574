import {
  assumeCreditAfterSleep,
  chargeCredit,
  confirmCredit,
  createCredit,
  isBehind,
  isPageCreditUsedUp,
  type SentAmount,
  type SocketCredit,
  shouldPersistCredit,
} from "./flow-control.ts";
import type { ClientSocket } from "./socket-state.ts";

const persistDelayMs = 1_000; // a pending timer keeps the object awake

/**
 * Credits of the sockets (`flow-control.ts`). They are kept in memory, since writing an attachment costs as much as a
 * frame. The attachment is written before it is too far behind, and again after a delay.
 */
export class SocketCredits {
  readonly #credits = new WeakMap<ClientSocket, SocketCredit>();
  readonly #unpersisted = new Set<ClientSocket>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Whether the socket receives only heads until it confirms something. */
  isBehind(socket: ClientSocket): boolean {
    return isBehind(this.#find(socket));
  }

  /** Whether the socket has to confirm something before it may request more. */
  isPageCreditUsedUp(socket: ClientSocket): boolean {
    return isPageCreditUsedUp(this.#find(socket));
  }

  /** Records that a socket is behind. Returns the time since which it is. */
  markBehind(socket: ClientSocket): number {
    const credit = this.#find(socket);
    if (credit.behindSince !== null) return credit.behindSince;
    const behindSince = Date.now();
    this.#persist(socket, { ...credit, behindSince }, false);
    return behindSince;
  }

  /** Counts sent messages against the credit. */
  charge(socket: ClientSocket, load: SentAmount, isPage: boolean): void {
    this.#set(socket, chargeCredit(this.#find(socket), load, isPage));
  }

  /** Confirms received messages. False if there are more than were sent. */
  confirm(socket: ClientSocket, taken: number): boolean {
    const credit = confirmCredit(this.#find(socket), taken);
    if (credit) this.#set(socket, credit);
    return credit !== undefined;
  }

  #find(socket: ClientSocket): SocketCredit {
    const known = this.#credits.get(socket);
    if (known) return known;
    const { state } = socket;
    if (!state) return createCredit();
    return state.isSettled ? state.credit : assumeCreditAfterSleep(state.credit);
  }

  #set(socket: ClientSocket, credit: SocketCredit): void {
    const { state } = socket;
    this.#credits.set(socket, credit);
    if (state && (state.isSettled || shouldPersistCredit(credit, state.credit))) this.#persist(socket, credit, false);
    this.#unpersisted.add(socket);
    this.#timer ??= setTimeout(() => this.#persistAll(), persistDelayMs);
  }

  #persistAll(): void {
    this.#timer = undefined;
    for (const socket of this.#unpersisted) {
      const credit = this.#credits.get(socket);
      if (credit) this.#persist(socket, credit, true);
    }
    this.#unpersisted.clear();
  }

  #persist(socket: ClientSocket, credit: SocketCredit, isSettled: boolean): void {
    this.#credits.set(socket, credit);
    if (socket.state) socket.setState({ ...socket.state, credit, isSettled });
  }
}
