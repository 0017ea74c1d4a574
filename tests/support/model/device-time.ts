import { vi } from "vitest";

/**
 * Virtual time of the devices in a test: a discrete-event simulation. The clock stands still while anything is being
 * done. Once nothing is left to do (quiescence), it jumps to the next timer. So an hour of back-off takes a moment,
 * and a busy machine changes nothing.
 *
 * Vitest's fake timers replace `setTimeout` and `Date` for the whole test file, including the libraries in it.
 * `setImmediate` stays real: it carries what takes no time, such as the transactions of the model's IndexedDB.
 */
const real = { setTimeout, setImmediate };
/** Number of turns of the event loop without activity after which nothing counts as left to do. */
const idleRounds = 3;
/** Real time of one turn: enough for a message between tabs or a lock to arrive. */
const roundMs = 1;
/**
 * The same number where no timer is left. Work of other threads, such as reading a picture, is not seen here, and on a
 * busy machine may take longer than a few turns: it is given up only after about a second.
 */
const lastIdleRounds = 500;

let pending = 0;
let activity = 0;

/** Counts the queued immediates, so that the clock waits for them. */
const trackImmediates = (): void => {
  globalThis.setImmediate = ((run: (...args: unknown[]) => void, ...args: unknown[]) => {
    pending++;
    return real.setImmediate(() => {
      pending--;
      activity++;
      run(...args);
    });
  }) as unknown as typeof setImmediate;
};

/** Records an activity that the clock cannot see by itself, such as a message between tabs. */
export const recordActivity = (): void => {
  activity++;
};

let waiting: (() => void)[] = [];
let stepping: { resolve: () => void; reject: (error: Error) => void }[] = [];

const endOfTime = new Error("no timer is left: nothing will change any more");

/** Resolves once nothing is left to do at the present time. */
export const waitForQuiescence = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));

/** Runs the next timer and resolves once nothing is left to do. Throws if there is no timer. */
export const runNextTimer = (): Promise<void> =>
  new Promise((resolve, reject) => void stepping.push({ resolve, reject }));

const releaseWaiting = (): boolean => {
  const released = waiting;
  waiting = [];
  for (const resolve of released) resolve();
  return released.length > 0;
};

const advance = (): void => {
  const released = stepping;
  stepping = [];
  if (vi.getTimerCount() === 0) {
    for (const { reject } of released) reject(endOfTime);
    return;
  }
  vi.advanceTimersToNextTimer();
  waiting.push(...released.map(({ resolve }) => resolve));
};

const runClock = (): void => {
  let seen = activity;
  let rounds = 0;
  const turn = (): void => {
    if (pending > 0 || activity !== seen) rounds = 0;
    else rounds++;
    seen = activity;
    const isStepLeft = stepping.length === 0 || vi.getTimerCount() > 0;
    if (rounds >= (waiting.length > 0 || isStepLeft ? idleRounds : lastIdleRounds)) {
      rounds = 0;
      if (!releaseWaiting()) advance();
    }
    real.setTimeout(turn, roundMs).unref();
  };
  turn();
};

vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
trackImmediates();
runClock();

/** Clock of a device. */
export const deviceTime = {
  now: (): number => Date.now(),

  /** Runs a callback after a delay, unless the returned function is called before. */
  after: (ms: number, run: () => void): (() => void) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
