import { useSyncExternalStore } from "react";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { currentVoice } from "./current-voice.ts";

const VoiceBar = lazyComponent(() => loadWithIdleTexts(() => import("./voice-bar.tsx")));

/** Bar of the voice message that plays while another screen than its chat is open. */
export function VoiceBarHost({ pathname }: { pathname: string }) {
  const track = useSyncExternalStore(currentVoice.subscribe, currentVoice.get);
  return track && <VoiceBar track={track} isInChat={track.path === pathname} />;
}
