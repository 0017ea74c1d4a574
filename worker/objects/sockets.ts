import { Buffer } from "node:buffer";
import type { Connection } from "partyserver";
import type { ErrorCode } from "../../contract/errors";
import type { Uuid } from "../../contract/ids";
import { behindMaxMs, malformedFramesMax, malformedWindowMs, socketsPerUserMax } from "../../contract/limits";
import { closeCodes, encodeFrame, type ServerFrame } from "../../contract/protocol";
import { type Credit, charge, confirm, fullCredit, isBehind, isFull } from "./credit";

export type Base = { now: number; counter: number };

/** What a socket must remember while its object sleeps: it lives in the socket's attachment. */
export type SocketState = {
  session: Uuid;
  openedAt: number;
  /** It has said hello and is told of changes. */
  isReady: boolean;
  /** The clock and the counter at its welcome: what its frames are relative to. */
  base: Base;
  /** The newest change it was told of. */
  counter: number;
  credit: Credit;
  malformedAt: readonly number[];
};
export type Socket = Connection<SocketState>;

/** What a change looks like to one socket. `messages` are counted against its credit; `head` is sent instead. */
export type Push = { frame: string; messages: number; head?: ServerFrame };

/** The sockets of one person, all that hibernation keeps of them included. */
export class Sockets {
  readonly #all: () => Iterable<Socket>;

  constructor(all: () => Iterable<Socket>) {
    this.#all = all;
  }

  /** A new socket. The oldest goes when there are too many: some of them may be dead without saying so. */
  accept(socket: Socket, session: Uuid): void {
    const state: SocketState = {
      session,
      openedAt: Date.now(),
      isReady: false,
      base: { now: 0, counter: 0 },
      counter: 0,
      credit: fullCredit(),
      malformedAt: [],
    };
    socket.setState(state);
    const others = [...this.#all()].filter((other) => other.id !== socket.id);
    const excess = others.length + 1 - socketsPerUserMax;
    if (excess <= 0) return;
    others.sort((a, b) => (a.state?.openedAt ?? 0) - (b.state?.openedAt ?? 0));
    for (const old of others.slice(0, excess)) this.close(old, "replaced");
  }

  /** The newest change there was, as the ready sockets know it; undefined when there is none. */
  get lastCounter(): number | undefined {
    const ready = [...this.#all()].filter((socket) => socket.state?.isReady);
    return ready.length === 0 ? undefined : Math.max(...ready.map((socket) => socket.state?.counter ?? 0));
  }

  get isEmpty(): boolean {
    for (const _ of this.#all()) return false;
    return true;
  }

  /** Tells every ready socket of one change, each in its own form. */
  push(counter: number, toPush: (socket: Socket, base: Base) => Push): void {
    for (const socket of this.#all()) {
      const { state } = socket;
      if (state?.isReady) this.#pushOne(socket, { ...state, counter }, toPush(socket, state.base));
    }
  }

  #pushOne(socket: Socket, state: SocketState, { frame, messages, head }: Push): void {
    if (head && isBehind(state.credit)) {
      const behindSince = state.credit.behindSince ?? Date.now();
      if (Date.now() - behindSince > behindMaxMs) {
        this.close(socket, "behind");
      } else {
        socket.setState({ ...state, credit: { ...state.credit, behindSince } });
        this.#send(socket, encodeFrame(head));
      }
      return;
    }
    const load = { messages, bytes: Buffer.byteLength(frame) };
    const credit = messages === 0 ? state.credit : charge(state.credit, load, false);
    socket.setState({ ...state, credit });
    this.#send(socket, frame);
  }

  /** Tells every ready socket of something that is nothing to a device that comes too late. */
  signal(frame: ServerFrame): void {
    const text = encodeFrame(frame);
    for (const socket of this.#all()) {
      if (socket.state?.isReady && !isBehind(socket.state.credit)) this.#send(socket, text);
    }
  }

  /** An answer to one socket. */
  answer(socket: Socket, frame: ServerFrame, messages = 0): void {
    const text = encodeFrame(frame);
    const { state } = socket;
    if (state && messages > 0) {
      const load = { messages, bytes: Buffer.byteLength(text) };
      socket.setState({ ...state, credit: charge(state.credit, load, true) });
    }
    this.#send(socket, text);
  }

  /** Whether the socket has to confirm something before it may ask for more. */
  isFull(socket: Socket): boolean {
    return socket.state ? isFull(socket.state.credit) : true;
  }

  /** The device has taken in this many messages. False when it cannot have. */
  confirm(socket: Socket, taken: number): boolean {
    const credit = socket.state && confirm(socket.state.credit, taken);
    if (!credit || !socket.state) return false;
    socket.setState({ ...socket.state, credit });
    return true;
  }

  /** From here on the socket is told of changes. */
  welcome(socket: Socket, base: Base): void {
    if (socket.state) socket.setState({ ...socket.state, isReady: true, base, counter: base.counter });
  }

  /** A frame that could not be read. Too many of them end the socket. */
  malformed(socket: Socket, error: ErrorCode = "malformed_frame"): void {
    const now = Date.now();
    const before = socket.state?.malformedAt ?? [];
    const malformedAt = [...before.filter((at) => now - at < malformedWindowMs), now];
    if (socket.state) socket.setState({ ...socket.state, malformedAt });
    this.answer(socket, ["x", error]);
    if (malformedAt.length >= malformedFramesMax) this.close(socket, "rateLimited");
  }

  /** Ends the sockets of these sessions, or all of them. */
  closeSessions(sessions: readonly Uuid[] | "all"): void {
    for (const socket of [...this.#all()]) {
      if (sessions === "all" || sessions.includes(socket.state?.session ?? "")) this.close(socket, "signedOut");
    }
  }

  close(socket: Socket, reason: keyof typeof closeCodes): void {
    try {
      socket.close(closeCodes[reason], reason);
    } catch (error) {
      console.warn("a socket was closed already", error);
    }
  }

  #send(socket: Socket, text: string): void {
    try {
      socket.send(text);
    } catch (error) {
      console.warn("a socket went away", error);
    }
  }
}
