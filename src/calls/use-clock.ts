import { useEffect, useState } from "react";
import { formatDuration } from "#i18n/format.ts";
import type { CallView } from "./views.ts";

const secondMs = 1_000;

/** How long a call has been talked, as mm:ss, told anew each second; 00:00 in every other state (SPEC.md §2). */
export const useCallDuration = (state: CallView["state"]): string => {
  const since = state.at === "connected" ? state.since : undefined;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (since === undefined) return;
    let timer: ReturnType<typeof setTimeout>;
    const tick = () => {
      setNow(Date.now());
      timer = setTimeout(tick, secondMs - ((Date.now() - since) % secondMs));
    };
    tick();
    return () => clearTimeout(timer);
  }, [since]);
  if (state.at === "ended") return formatDuration(state.seconds * secondMs, true);
  return formatDuration(since === undefined ? 0 : Math.max(0, now - since), true);
};
