import { useEffect, useState } from "react";
import { secondMs } from "#contract/limits/durations.ts";
import { formatDuration } from "#i18n/format.ts";
import type { CallView } from "./views.ts";

/** Duration of a connected or ended call as mm:ss, updated each second; 00:00 in every other state (SPEC.md §2). */
export const useCallDuration = (state: CallView["state"]): string => {
  const connectedAt = state.phase === "connected" ? state.since : undefined;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (connectedAt === undefined) return;
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      setNow(Date.now());
      timer = setTimeout(tick, secondMs - ((Date.now() - connectedAt) % secondMs));
    };
    tick();
    return () => clearTimeout(timer);
  }, [connectedAt]);
  if (state.phase === "ended") return formatDuration(state.seconds * secondMs, true);
  return formatDuration(connectedAt === undefined ? 0 : Math.max(0, now - connectedAt), true);
};
