import type { Uuid } from "#contract/ids.ts";

/** Ended sessions: some, or all of a person's. */
export type EndedSessions = readonly Uuid[] | "all";
type GuardedEntry = { session: Uuid | undefined; ended: EndedSessions | undefined };

/** Tracks sessions that are dialling or answering, so that a session which ends meanwhile does not enter a call. */
export class SessionGuard {
  readonly #entries = new Set<GuardedEntry>();

  /** Runs `enter`, then `leave` if the session ended meanwhile. */
  async run<T>(
    session: Uuid | undefined,
    enter: () => Promise<T>,
    leave: (endedSessions: EndedSessions, entered: T) => Promise<T>,
  ): Promise<T> {
    const entry: GuardedEntry = { session, ended: undefined };
    this.#entries.add(entry);
    try {
      const entered = await enter();
      return entry.ended === undefined ? entered : await leave(entry.ended, entered);
    } finally {
      this.#entries.delete(entry);
    }
  }

  endSessions(endedSessions: EndedSessions): void {
    for (const entry of this.#entries) {
      if (endedSessions === "all" || (entry.session !== undefined && endedSessions.includes(entry.session)))
        entry.ended = endedSessions;
    }
  }
}
