import { Buffer } from "node:buffer";
import type { Connection } from "partyserver";
import type { CallFrame, DeviceId } from "#contract/calls/call.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import {
  behindMaxMs,
  malformedFramesMax,
  malformedWindowMs,
  presenceWatchersMax,
  socketsPerUserMax,
} from "#contract/limits.ts";
import { closeCodes, encodeFrame, type ServerFrame, type SocketBase } from "#contract/wire/server-frames.ts";
import { logWarning } from "#worker/lib/log.ts";
import {
  assumeCreditAfterSleep,
  chargeCredit,
  confirmCredit,
  createCredit,
  isBehind,
  isPageCreditUsedUp,
  type SocketCredit,
  shouldPersistCredit,
} from "./flow-control.ts";

/** What a socket must remember while its object sleeps: it lives in the socket's attachment. */
export type SocketState = {
  session: Uuid;
  openedAt: number;
  /** It has said hello and is told of changes. */
  isReady: boolean;
  base: SocketBase;
  /** As it was last written here; what a living object knows beyond it is in its memory. */
  credit: SocketCredit;
  /** Nothing was added to `credit` since. */
  isSettled: boolean;
  malformedAt: readonly number[];
  /** When the device said that it is looked at; absent while it is not. */
  lookedAt?: number;
  /** Who asked lately whether this person is here. */
  watchers?: readonly Uuid[];
  /** Whose it is, once that said so itself, and when it first did. */
  device?: { id: Uuid; since: number };
};
export type ClientSocket = Connection<SocketState>;

/** What a change looks like to one socket. `messages` count against its credit; one that is behind gets `behind`. */
export type SocketPush = { frame: string; messages: number; behind?: readonly ServerFrame[] };

const persistDelayMs = 1_000; // the platform puts no object to sleep that waits for a timer

/** The sockets of one person, all that hibernation keeps of them included. */
export class SocketRegistry {
  readonly #listSockets: () => Iterable<ClientSocket>;
  readonly #pongedAt: (socket: ClientSocket) => number;

  /** Writing an attachment costs as much as a frame. */
  readonly #credits = new WeakMap<ClientSocket, SocketCredit>();
  readonly #unpersisted = new Set<ClientSocket>();
  /** When devices last said which they are. */
  readonly #namedAt = new WeakMap<ClientSocket, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `pongedAt`: when the platform last answered a ping of a socket, 0 when it never did. */
  constructor(listSockets: () => Iterable<ClientSocket>, lastPongAt: (socket: ClientSocket) => number) {
    this.#listSockets = listSockets;
    this.#pongedAt = lastPongAt;
  }

  /** A new socket. The oldest goes when there are too many: some of them may be dead without saying so. */
  addSocket(socket: ClientSocket, session: Uuid): void {
    const state: SocketState = {
      session,
      openedAt: Date.now(),
      isReady: false,
      base: { now: 0, counter: 0 },
      credit: createCredit(),
      isSettled: true,
      malformedAt: [],
    };
    socket.setState(state);
    const others = [...this.#listSockets()].filter((other) => other.id !== socket.id);
    const excess = others.length + 1 - socketsPerUserMax;
    if (excess <= 0) return;
    others.sort((a, b) => (a.state?.openedAt ?? 0) - (b.state?.openedAt ?? 0));
    for (const oldest of others.slice(0, excess)) this.closeSocket(oldest, "replaced");
  }

  /** Whether there is a socket that is told of changes. */
  get hasReadySocket(): boolean {
    return [...this.#listSockets()].some((socket) => socket.state?.isReady);
  }

  get isEmpty(): boolean {
    for (const _ of this.#listSockets()) return false;
    return true;
  }

  /** Tells every ready socket of one change, each in its own form. */
  pushChange(toPush: (socket: ClientSocket, base: SocketBase) => SocketPush): void {
    for (const socket of this.#listSockets()) {
      const { state } = socket;
      if (state?.isReady) this.#pushOne(socket, toPush(socket, state.base));
    }
  }

  #pushOne(socket: ClientSocket, { frame, messages, behind }: SocketPush): void {
    if (messages > 0) {
      const credit = this.#creditOf(socket);
      if (behind && isBehind(credit)) {
        this.#pushBehind(socket, credit, behind);
        return;
      }
      this.#setCredit(socket, chargeCredit(credit, { messages, bytes: Buffer.byteLength(frame) }, false));
    }
    this.#send(socket, frame);
  }

  #pushBehind(socket: ClientSocket, credit: SocketCredit, frames: readonly ServerFrame[]): void {
    const behindSince = credit.behindSince ?? Date.now();
    if (Date.now() - behindSince > behindMaxMs) {
      this.closeSocket(socket, "behind");
      return;
    }
    if (credit.behindSince === null) this.#persistCredit(socket, { ...credit, behindSince }, false);
    for (const frame of frames) this.#send(socket, encodeFrame(frame));
  }

  /**
   * Tells every ready socket of something that is nothing to a device that comes too late. `isOwed`: also those that have
   * not confirmed what they were sent before, for nothing makes up for it.
   */
  broadcast(frame: ServerFrame | CallFrame, includesBehind = false, isRecipient = (_state: SocketState) => true): void {
    const text = encodeFrame(frame);
    for (const socket of this.#listSockets()) {
      const { state } = socket;
      if (!state?.isReady || !isRecipient(state)) continue;
      if (includesBehind || !isBehind(this.#creditOf(socket))) this.#send(socket, text);
    }
  }

  /**
   * The same for one device, null for all of them. A socket that came after that device was last heard of, and has not
   * said whose it is, may be its next one: the one before it may be dead without saying so.
   */
  sendToDevice(device: Uuid | null, frame: CallFrame): void {
    let lastHeardAt = 0;
    for (const socket of this.#listSockets()) {
      const known = socket.state?.device;
      if (known?.id === device) lastHeardAt = Math.max(lastHeardAt, this.#namedAt.get(socket) ?? known.since);
    }
    const isOfDevice = ({ device: known, openedAt }: SocketState) =>
      known ? known.id === device : openedAt > lastHeardAt;
    this.broadcast(frame, false, (state) => device === null || isOfDevice(state));
  }

  /** Whether a device has a socket: its own, or one that came since then and has not said whose it is. */
  isDeviceReachable(device: DeviceId, since: number): boolean {
    return [...this.#listSockets()].some(({ state }) =>
      state?.device ? state.device.id === device : (state?.openedAt ?? 0) >= since,
    );
  }

  /** A device says over its socket which it is. It stays the same one: written once. */
  setDevice(socket: ClientSocket, device: Uuid): void {
    const now = Date.now();
    this.#namedAt.set(socket, now);
    const { state } = socket;
    if (state && state.device?.id !== device) socket.setState({ ...state, device: { id: device, since: now } });
  }

  /** A device is looked at, or no more. */
  setForeground(socket: ClientSocket, isForeground: boolean): void {
    if (!socket.state) return;
    const { lookedAt: _, ...rest } = socket.state;
    socket.setState(isForeground ? { ...rest, lookedAt: Date.now() } : rest);
  }

  /** When a device that is looked at was last heard of. */
  lastHeardAt(socket: ClientSocket): number {
    return Math.max(socket.state?.lookedAt ?? 0, this.#pongedAt(socket));
  }

  /** When any device that is looked at was last heard of, 0 when there is none. */
  lastForegroundAt(excluded?: ClientSocket): number {
    const foreground = [...this.#listSockets()].filter(
      ({ id, state }) => state?.lookedAt !== undefined && id !== excluded?.id,
    );
    return Math.max(0, ...foreground.map((socket) => this.lastHeardAt(socket)));
  }

  /** Who asked whether this person is here, the first before the others, as far as their devices remember. */
  get watchers(): Uuid[] {
    return [...new Set([...this.#listSockets()].flatMap(({ state }) => state?.watchers ?? []))];
  }

  /** A socket remembers it without a row; forgotten with it, it is said again at the next question. */
  addWatcher(watcher: Uuid): void {
    if (this.watchers.includes(watcher)) return;
    const socket = [...this.#listSockets()].find(({ state }) => state?.isReady);
    if (!socket?.state) return;
    const watchers = [...(socket.state.watchers ?? []), watcher].slice(-presenceWatchersMax);
    socket.setState({ ...socket.state, watchers });
  }

  /** An answer to one socket. */
  sendFrame(socket: ClientSocket, frame: ServerFrame, messages = 0): void {
    const text = encodeFrame(frame);
    if (messages > 0) {
      this.#setCredit(socket, chargeCredit(this.#creditOf(socket), { messages, bytes: Buffer.byteLength(text) }, true));
    }
    this.#send(socket, text);
  }

  /** Whether the socket has to confirm something before it may ask for more. */
  isPageCreditUsedUp(socket: ClientSocket): boolean {
    return isPageCreditUsedUp(this.#creditOf(socket));
  }

  /** The device has taken in this many messages. False when it cannot have. */
  confirmReceived(socket: ClientSocket, taken: number): boolean {
    const credit = confirmCredit(this.#creditOf(socket), taken);
    if (credit) this.#setCredit(socket, credit);
    return credit !== undefined;
  }

  #creditOf(socket: ClientSocket): SocketCredit {
    const known = this.#credits.get(socket);
    if (known) return known;
    const { state } = socket;
    if (!state) return createCredit();
    return state.isSettled ? state.credit : assumeCreditAfterSleep(state.credit);
  }

  /** In memory at once, in the attachment before it is far from what stands there, and after a while. */
  #setCredit(socket: ClientSocket, credit: SocketCredit): void {
    const { state } = socket;
    this.#credits.set(socket, credit);
    if (state && (state.isSettled || shouldPersistCredit(credit, state.credit)))
      this.#persistCredit(socket, credit, false);
    this.#unpersisted.add(socket);
    this.#timer ??= setTimeout(() => this.#persistCredits(), persistDelayMs);
  }

  #persistCredits(): void {
    this.#timer = undefined;
    for (const socket of this.#unpersisted) {
      const credit = this.#credits.get(socket);
      if (credit) this.#persistCredit(socket, credit, true);
    }
    this.#unpersisted.clear();
  }

  #persistCredit(socket: ClientSocket, credit: SocketCredit, isSettled: boolean): void {
    this.#credits.set(socket, credit);
    if (socket.state) socket.setState({ ...socket.state, credit, isSettled });
  }

  /** From here on the socket is told of changes. */
  markReady(socket: ClientSocket, base: SocketBase): void {
    if (socket.state) socket.setState({ ...socket.state, isReady: true, base });
  }

  /** A frame that could not be read. Too many of them end the socket. */
  rejectMalformed(socket: ClientSocket, error: ErrorCode = "malformed_frame"): void {
    const now = Date.now();
    const before = socket.state?.malformedAt ?? [];
    const malformedAt = [...before.filter((at) => now - at < malformedWindowMs), now];
    if (socket.state) socket.setState({ ...socket.state, malformedAt });
    this.sendFrame(socket, ["x", error]);
    if (malformedAt.length >= malformedFramesMax) this.closeSocket(socket, "rateLimited");
  }

  /** Ends the sockets of these sessions, or all of them. */
  closeSessions(sessions: readonly Uuid[] | "all"): void {
    for (const socket of [...this.#listSockets()]) {
      if (sessions === "all" || sessions.includes(socket.state?.session ?? "")) this.closeSocket(socket, "signedOut");
    }
  }

  closeSocket(socket: ClientSocket, reason: keyof typeof closeCodes): void {
    try {
      socket.close(closeCodes[reason], reason);
    } catch (error) {
      logWarning("a socket was closed already", error);
    }
  }

  #send(socket: ClientSocket, text: string): void {
    // One that was just closed for what it sent may have sent more before it heard of it.
    if (socket.readyState !== WebSocket.READY_STATE_OPEN) return;
    try {
      socket.send(text);
    } catch (error) {
      logWarning("a socket went away", error);
    }
  }
}
