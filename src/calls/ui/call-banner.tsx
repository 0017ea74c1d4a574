import { useCall } from "#calls/hooks.ts";
import { late } from "#components/layout/lazy-component.tsx";
import type { Uuid } from "#contract/ids.ts";
import { withLaterTexts } from "#i18n/setup.ts";

const CallBar = late(() => withLaterTexts(() => import("./call-bar.tsx")));

/** In the chat with a person: the call with them, while its own screen does not show (SPEC.md §2). */
export function CallBanner({ peer }: { peer: Uuid }) {
  const call = useCall();
  if (!call?.isMinimised || call.state.at === "ended" || call.state.call.peer !== peer) return null;
  return <CallBar call={call} />;
}
