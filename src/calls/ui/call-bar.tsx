import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { restoreCall } from "#calls/actions.ts";
import { useCallDuration } from "#calls/use-call-duration.ts";
import type { CallView } from "#calls/views.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { CallActionButton } from "./call-action-button.tsx";
import { getCallStatusKey, ongoingCallKeys } from "./call-status-text.ts";
import { focusCallBar } from "./minimize-focus.ts";

type CallBarProps = {
  call: CallView;
  /** Who it is with, where the place does not say it. */
  name?: string;
  /** More that can be done, before the end. */
  children?: React.ReactNode;
};

/** A call whose screen is put away: what it is, the way back to it, and its end; one that rings can be taken. */
export default function CallBar({ call: { state, media }, name, children }: CallBarProps) {
  const { t } = useTranslation();
  const time = useCallDuration(state);
  const section = useRef<HTMLElement>(null);
  // Whatever else is to have the focus has it by then.
  useEffect(() => {
    const timer = setTimeout(() => focusCallBar(section.current));
    return () => clearTimeout(timer);
  }, []);
  if (state.at === "ended") return null;
  const { kind } = state.call;
  const isRinging = state.at === "ringing";
  const isUnderWay = state.at === "connecting" || (state.at === "connected" && state.interruptedAt === undefined);
  const words = isUnderWay ? t(ongoingCallKeys[kind], { time }) : t(getCallStatusKey(state));
  return (
    <section
      // Where it names nobody it stands in the chat with them, below the header.
      data-call={name === undefined ? "chat" : "bar"}
      ref={section}
      aria-label={t("calls.banner")}
      className="flex min-h-14 shrink-0 flex-wrap items-center justify-end gap-2 border-b border-line bg-accent-soft py-1 pr-2 pl-2 text-text"
    >
      <button
        type="button"
        className="flex min-h-12 min-w-[144px] flex-1 items-center gap-3 rounded-card px-2 text-left hover:bg-raised"
        onClick={restoreCall}
      >
        <span
          className={`${kind === "video" ? "i-ph-video-camera-fill" : "i-ph-phone-fill"} shrink-0 text-2xl text-accent max-[400px]:hidden`}
          aria-hidden="true"
        />
        <span className="flex min-w-0 flex-1 flex-col leading-tight">
          {name !== undefined && <bdi className="truncate font-semibold">{name}</bdi>}
          <span className={`text-sm tabular-nums ${name === undefined ? "font-semibold" : ""}`}>{words}</span>
        </span>
        {media.mic === "muted" && !isRinging && (
          <span className="shrink-0 text-xl text-danger">
            <span className="i-ph-microphone-slash-fill block" aria-hidden="true" />
            <span className="sr-only">{t("calls.ownMuted")}</span>
          </span>
        )}
        <span className="sr-only">
          {name === undefined ? t("calls.restore") : t("calls.restoreName", { name: isolateBidi(name) })}
        </span>
      </button>
      {/* It takes no focus from whoever writes, so it says itself that it is there. */}
      {isRinging && (
        <span role="alert" className="sr-only">
          {words} {name}
        </span>
      )}
      {children}
      {isRinging ? (
        <>
          <CallActionButton act="decline" kind={kind} />
          <CallActionButton act="accept" kind={kind} />
        </>
      ) : (
        <CallActionButton act="hangUp" kind={kind} />
      )}
    </section>
  );
}
