/** Time runs this much faster than on a phone: a back-off of 30 s is over in 0.75 s. */
const speed = 40;
const lookMs = 1;
/** Between two looks no more than this goes by, however long the machine did something else. */
const turnMs = 5;

type Timer = { at: number; order: number; run: () => void };

const started = Date.now();
const due = new Set<Timer>();
let passedMs = 0;
let lookedAt = performance.now();
let order = 0;
let isLooking = false;

const goOn = (): void => {
  const now = performance.now();
  passedMs += Math.min(now - lookedAt, turnMs) * speed;
  lookedAt = now;
};

const earliest = (): Timer | undefined => {
  let first: Timer | undefined;
  for (const timer of due)
    if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer;
  return first;
};

const look = (): void => {
  goOn();
  const timer = earliest();
  isLooking = timer !== undefined;
  if (!timer) return;
  const isDue = timer.at <= passedMs;
  if (isDue) due.delete(timer);
  // What comes of one timer has its turn before the next.
  if (isDue) setImmediate(look);
  else setTimeout(look, lookMs);
  if (isDue) timer.run();
};

/**
 * The time of the phones of a test. A busy machine stands still now and then, and a phone whose time went on meanwhile
 * would give up what only had no turn; so time passes by the turns of the machine.
 */
export const phoneTime = {
  now: (): number => {
    goOn();
    return Math.floor(started + passedMs);
  },

  /** Runs it once so much of the phones' time has passed, unless what it answers is called before. */
  after: (ms: number, run: () => void): (() => void) => {
    goOn();
    const timer = { at: passedMs + Math.max(0, ms), order: order++, run };
    due.add(timer);
    if (!isLooking) setTimeout(look, lookMs);
    isLooking = true;
    return () => due.delete(timer);
  },

  /** So much of the phones' time in a machine that does nothing else. */
  toMachine: (ms: number): number => ms / speed,
  fromMachine: (ms: number): number => ms * speed,
};
