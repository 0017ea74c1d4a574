import type { Uuid } from "#contract/ids.ts";
import { sessionCheckMs } from "#contract/limits/sockets.ts";
import { openDb } from "#worker/db/client.ts";
import { isSessionLive } from "#worker/lib/http/authenticate.ts";
import { logWarning } from "#worker/lib/log.ts";
import type { ClientSocket } from "./socket-state.ts";

type SessionCheckPorts = {
  env: Env;
  /** Closes the sockets of an ended session. */
  closeSession(session: Uuid): Promise<void>;
};

/**
 * Repeats the session check of open sockets. Ending a session closes its sockets at once; if this object could not be
 * reached then, the socket ends with the first message after `sessionCheckMs`. A silent socket needs no check: flow
 * control bounds what it receives.
 */
export class SessionCheck {
  readonly #ports: SessionCheckPorts;

  constructor(ports: SessionCheckPorts) {
    this.#ports = ports;
  }

  /** Looks up the session of a socket that sent a message, if the last look-up is long enough ago. Never throws. */
  async check(socket: ClientSocket, now = Date.now()): Promise<void> {
    const { state } = socket;
    if (!state || now - (state.sessionCheckedAt ?? state.openedAt) < sessionCheckMs) return;
    const { env, closeSession } = this.#ports;
    try {
      socket.setState({ ...state, sessionCheckedAt: now });
      if (!(await isSessionLive(openDb(env), state.session))) await closeSession(state.session);
    } catch (error) {
      logWarning("checking the session of a socket failed", error);
    }
  }
}
