import { Observable } from "#lib/browser/observable.ts";

const skewStepMs = 1_000; // the estimate varies with the latency of each response

/** Difference of the server's clock to this device's in milliseconds, rounded to whole seconds. */
export const clockSkewMs = new Observable(0);

export const setClockSkew = (ms: number): void => clockSkewMs.set(Math.round(ms / skewStepMs) * skewStepMs);

/** Estimated server time in epoch milliseconds: the clock of a phone may be days off. */
export const getServerNow = (): number => Date.now() + clockSkewMs.get();
