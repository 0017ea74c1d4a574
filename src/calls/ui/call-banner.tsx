import { useCurrentCall } from "#calls/call-state.ts";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import type { Uuid } from "#contract/ids.ts";
import { loadWithTexts } from "#i18n/setup.ts";

const CallBar = lazyComponent(() => loadWithTexts(() => import("./call-bar.tsx")));

/** Banner in the chat with a person for the minimized call with them (SPEC.md §2). */
export function CallBanner({ peer }: { peer: Uuid }) {
  const call = useCurrentCall();
  if (!call?.isMinimized || call.state.phase === "ended" || call.state.call.peer !== peer) return null;
  return <CallBar call={call} />;
}
