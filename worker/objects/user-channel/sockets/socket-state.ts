import type { Connection } from "partyserver";
import type { Uuid } from "#contract/ids.ts";
import type { SocketBase } from "#contract/wire/codec.ts";
import type { SocketCredit } from "./flow-control.ts";

/** State of a socket that survives hibernation in its attachment. */
export type SocketState = {
  session: Uuid;
  openedAt: number;
  /** Time of the last session check after opening. */
  sessionCheckedAt?: number;
  /** Whether the socket said hello and receives changes. */
  isReady: boolean;
  base: SocketBase;
  /** Credit as last persisted; a newer one is in memory. */
  credit: SocketCredit;
  /** Whether `credit` is up to date. */
  isSettled: boolean;
  malformedAt: readonly number[];
  /** Time at which the device reported to be in the foreground, absent otherwise. */
  lookedAt?: number;
  /** Time at which the device left the foreground, absent before that and while it is there. */
  leftAt?: number;
  /** People who recently asked for this person's presence. */
  watchers?: readonly Uuid[];
  /** Device id and the time it first identified itself, absent before that. */
  device?: { id: Uuid; since: number };
};
export type ClientSocket = Connection<SocketState>;
