import type { Uuid } from "../../contract/ids";
import { late } from "../components/late";
import { withLaterTexts } from "../i18n/setup";
import { useCall } from "./use-call";

const CallBar = late(() => withLaterTexts(() => import("./call-bar")));

/** In the chat with a person: the call with them, while its own screen does not show (SPEC.md §2). */
export function CallBanner({ peer }: { peer: Uuid }) {
  const call = useCall();
  if (!call?.isMinimised || call.state.at === "ended" || call.state.call.peer !== peer) return null;
  return <CallBar call={call} />;
}
