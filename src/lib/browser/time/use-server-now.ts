import { useSyncExternalStore } from "react";
import { clockSkewMs } from "./clock.ts";

/** Server time for components, which render again when the estimate changes. */
export const useServerNow = (): number =>
  Date.now() + useSyncExternalStore(clockSkewMs.subscribe, clockSkewMs.get, () => 0);
