import { Buffer } from "node:buffer";
import type { CallFrame, DeviceId } from "#contract/calls/call.ts";
import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { presenceWatchersMax } from "#contract/limits/people.ts";
import { behindMaxMs, malformedFramesMax, malformedWindowMs, socketsPerUserMax } from "#contract/limits/sockets.ts";
import type { SocketBase } from "#contract/wire/codec.ts";
import {
  closeCodes,
  encodeServerFrame,
  originBase,
  type ServerFrame,
  type ServerFrameOf,
} from "#contract/wire/server-frames.ts";
import { logWarning } from "#worker/lib/log.ts";
import { createCredit } from "./flow-control.ts";
import { SocketCredits } from "./socket-credits.ts";
import type { ClientSocket, SocketState } from "./socket-state.ts";

/**
 * One change encoded for one socket. `messages` count against its credit; a socket that is behind receives `behind`
 * instead.
 */
export type SocketPush = { frame: string; messages: number; behind?: readonly ServerFrame[] };

/** Frames without a counter or time, which are the same for every socket. */
type EventFrame = ServerFrameOf<"typing" | "presenceVisibility" | "postDeleted">;

/** Connection of a device. `seenAt`: time up to which it showed to the person what it received, in the foreground. */
export type DeviceConnection = { isForeground: boolean; seenAt: number };

const leavingMs = 2_000; // what arrives while the person puts the device away is hardly seen

/** Sockets of one person and the state that survives hibernation. */
export class SocketRegistry {
  readonly #listSockets: () => Iterable<ClientSocket>;
  readonly #pongedAt: (socket: ClientSocket) => number;

  readonly #credits = new SocketCredits();
  /** Time of the last frames of each socket. */
  readonly #framesAt = new WeakMap<ClientSocket, number>();
  /** Time at which each device last identified itself. */
  readonly #namedAt = new WeakMap<ClientSocket, number>();

  /** `lastPongAt`: time of the platform's last answer to a ping of a socket, 0 if there was none. */
  constructor(listSockets: () => Iterable<ClientSocket>, lastPongAt: (socket: ClientSocket) => number) {
    this.#listSockets = listSockets;
    this.#pongedAt = lastPongAt;
  }

  /** Registers a new socket. Closes the oldest ones above the limit, since some may be dead without a close. */
  addSocket(socket: ClientSocket, session: Uuid): void {
    const state: SocketState = {
      session,
      openedAt: Date.now(),
      isReady: false,
      base: originBase,
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

  /** Whether any socket receives changes. */
  get hasReadySocket(): boolean {
    return [...this.#listSockets()].some((socket) => socket.state?.isReady);
  }

  get isEmpty(): boolean {
    for (const _ of this.#listSockets()) return false;
    return true;
  }

  /** Pushes one change to every ready socket, encoded for each. */
  pushChange(toPush: (socket: ClientSocket, base: SocketBase) => SocketPush): void {
    for (const socket of this.#listSockets()) {
      const { state } = socket;
      if (state?.isReady) this.#pushOne(socket, toPush(socket, state.base));
    }
  }

  #pushOne(socket: ClientSocket, { frame, messages, behind }: SocketPush): void {
    if (messages > 0) {
      if (behind && this.#credits.isBehind(socket)) {
        this.#pushBehind(socket, behind);
        return;
      }
      this.#credits.charge(socket, { messages, bytes: Buffer.byteLength(frame) }, false);
    }
    this.#send(socket, frame);
  }

  #pushBehind(socket: ClientSocket, frames: readonly ServerFrame[]): void {
    if (Date.now() - this.#credits.markBehind(socket) > behindMaxMs) {
      this.closeSocket(socket, "behind");
      return;
    }
    for (const frame of frames) this.sendFrame(socket, frame);
  }

  /**
   * Sends a frame that is useless when late to every ready socket. `includesBehind`: also to sockets that are behind,
   * because nothing replaces this frame.
   */
  broadcast(frame: EventFrame | CallFrame, includesBehind = false, isRecipient = (_state: SocketState) => true): void {
    const text = "event" in frame ? JSON.stringify(frame) : encodeServerFrame(frame, originBase);
    for (const socket of this.#listSockets()) {
      const { state } = socket;
      if (!state?.isReady || !isRecipient(state)) continue;
      if (includesBehind || !this.#credits.isBehind(socket)) this.#send(socket, text);
    }
  }

  /**
   * Sends a frame to one device, or to all if `device` is null. An unidentified socket that opened after the device was
   * last heard of may be its new one, since the old one may be dead without a close.
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

  /** Whether a device has a socket, or an unidentified socket opened since that time. */
  isDeviceReachable(device: DeviceId, since: number): boolean {
    return [...this.#listSockets()].some(({ state }) =>
      state?.device ? state.device.id === device : (state?.openedAt ?? 0) >= since,
    );
  }

  /** Records the device of a socket. It never changes, so it is written once. */
  setDevice(socket: ClientSocket, device: Uuid): void {
    const now = Date.now();
    this.#namedAt.set(socket, now);
    const { state } = socket;
    if (state && state.device?.id !== device) socket.setState({ ...state, device: { id: device, since: now } });
  }

  /** Records whether a device is in the foreground. */
  setForeground(socket: ClientSocket, isForeground: boolean): void {
    if (!socket.state) return;
    const { lookedAt, leftAt, ...rest } = socket.state;
    const now = Date.now();
    const left = lookedAt === undefined ? leftAt : now;
    socket.setState({ ...rest, ...(isForeground ? { lookedAt: now } : left === undefined ? {} : { leftAt: left }) });
  }

  /** Time at which a foreground device was last heard of. */
  lastHeardAt(socket: ClientSocket): number {
    return Math.max(socket.state?.lookedAt ?? 0, this.#pongedAt(socket));
  }

  /** Time at which any foreground device was last heard of, 0 if there is none. */
  lastForegroundAt(excluded?: ClientSocket): number {
    const foreground = [...this.#listSockets()].filter(
      ({ id, state }) => state?.lookedAt !== undefined && id !== excluded?.id,
    );
    return Math.max(0, ...foreground.map((socket) => this.lastHeardAt(socket)));
  }

  /** Records that frames of a socket arrived. */
  recordFrames(socket: ClientSocket): void {
    this.#framesAt.set(socket, Date.now());
  }

  /** Connection of a session's device by its ready sockets, undefined if it has none. */
  findConnection(session: Uuid): DeviceConnection | undefined {
    const ready = [...this.#listSockets()].filter(({ state }) => state?.isReady && state.session === session);
    if (ready.length === 0) return undefined;
    return {
      isForeground: ready.some(({ state }) => state?.lookedAt !== undefined),
      seenAt: Math.max(...ready.map((socket) => this.#seenAt(socket))),
    };
  }

  /** Time of the last frames or ping of a device in the foreground, or shortly before it left it. */
  #seenAt(socket: ClientSocket): number {
    const { lookedAt, leftAt = 0 } = socket.state ?? {};
    if (lookedAt === undefined) return leftAt - leavingMs;
    return Math.max(this.#framesAt.get(socket) ?? 0, this.#pongedAt(socket));
  }

  /** People who recently asked for this person's presence, oldest first. */
  get watchers(): Uuid[] {
    return [...new Set([...this.#listSockets()].flatMap(({ state }) => state?.watchers ?? []))];
  }

  /**
   * Adds a presence watcher to a socket's attachment instead of a table row. A lost watcher is added again with their
   * next query.
   */
  addWatcher(watcher: Uuid): void {
    if (this.watchers.includes(watcher)) return;
    const socket = [...this.#listSockets()].find(({ state }) => state?.isReady);
    if (!socket?.state) return;
    const watchers = [...(socket.state.watchers ?? []), watcher].slice(-presenceWatchersMax);
    socket.setState({ ...socket.state, watchers });
  }

  /** Sends a frame to one socket, as an answer that counts against the page credit. */
  sendFrame(socket: ClientSocket, frame: ServerFrame, messages = 0): void {
    const text = encodeServerFrame(frame, socket.state?.base ?? originBase);
    if (messages > 0) this.#credits.charge(socket, { messages, bytes: Buffer.byteLength(text) }, true);
    this.#send(socket, text);
  }

  /** Whether the socket has to confirm received messages before it may request more pages. */
  isPageCreditUsedUp(socket: ClientSocket): boolean {
    return this.#credits.isPageCreditUsedUp(socket);
  }

  /** Confirms received messages. False if there are more than were sent. */
  confirmReceived(socket: ClientSocket, taken: number): boolean {
    return this.#credits.confirm(socket, taken);
  }

  /** From now on the socket receives changes. */
  markReady(socket: ClientSocket, base: SocketBase): void {
    if (socket.state) socket.setState({ ...socket.state, isReady: true, base });
  }

  /** Answers an unreadable frame. Too many of them close the socket. */
  rejectMalformed(socket: ClientSocket, error: ErrorCode = "malformed_frame"): void {
    const now = Date.now();
    const before = socket.state?.malformedAt ?? [];
    const malformedAt = [...before.filter((at) => now - at < malformedWindowMs), now];
    if (socket.state) socket.setState({ ...socket.state, malformedAt });
    this.sendFrame(socket, { type: "error", error });
    if (malformedAt.length >= malformedFramesMax) this.closeSocket(socket, "rateLimited");
  }

  /** Closes the sockets of these sessions, or of all. */
  closeSessions(sessions: readonly Uuid[] | "all", reason: keyof typeof closeCodes = "signedOut"): void {
    for (const socket of [...this.#listSockets()]) {
      if (sessions === "all" || sessions.includes(socket.state?.session ?? "")) this.closeSocket(socket, reason);
    }
  }

  closeSocket(socket: ClientSocket, reason: keyof typeof closeCodes): void {
    try {
      socket.close(closeCodes[reason], reason);
    } catch (error) {
      logWarning("closing a socket failed", error);
    }
  }

  #send(socket: ClientSocket, text: string): void {
    // A socket closed for what it sent may have sent more before it knew.
    if (socket.readyState !== WebSocket.READY_STATE_OPEN) return;
    try {
      socket.send(text);
    } catch (error) {
      logWarning("sending to a socket failed", error);
    }
  }
}
