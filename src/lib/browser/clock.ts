import { useSyncExternalStore } from "react";
import { Observable } from "./observable.ts";

const skewStepMs = 1_000; // each answer of the server differs by what it took to come

/** By how much the server's clock is ahead of this device's, in whole seconds of milliseconds. */
const clockSkewMs = new Observable(0);

export const setClockSkew = (ms: number): void => clockSkewMs.set(Math.round(ms / skewStepMs) * skewStepMs);

/** The server's time, as far as it was told: a phone's own may be days off. */
export const getServerNow = (): number => Date.now() + clockSkewMs.get();

/** The same in a component, which is drawn again when the server says another time. */
export const useServerNow = (): number =>
  Date.now() + useSyncExternalStore(clockSkewMs.subscribe, clockSkewMs.get, () => 0);
