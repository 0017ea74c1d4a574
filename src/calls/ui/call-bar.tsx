import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { restoreCall } from "#calls/actions.ts";
import { useCallDuration } from "#calls/use-call-duration.ts";
import type { CallView } from "#calls/views.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { CallActionButton } from "./call-action-button.tsx";
import { getCallBarStatusKey, ongoingCallKeys } from "./call-status-text.ts";
import { focusCallBar } from "./minimize-focus.ts";

type CallBarProps = {
  call: CallView;
  /** Name of the other person, omitted in the chat with them. */
  name?: string;
  /** Further actions, placed before the end button. */
  children?: React.ReactNode;
};

/**
 * Bar of a minimized call: status, button back to the call screen, and end button; accept and decline while it rings.
 */
export default function CallBar({ call: { state, media }, name, children }: CallBarProps) {
  const { t } = useTranslation();
  const time = useCallDuration(state);
  const section = useRef<HTMLElement>(null);
  // In a timer, so that the bar takes the focus after every other element that this screen change focuses.
  useEffect(() => {
    const timer = setTimeout(() => focusCallBar(section.current));
    return () => clearTimeout(timer);
  }, []);
  if (state.phase === "ended") return null;
  const { kind } = state.call;
  const isRinging = state.phase === "ringing";
  const isUnderWay = state.phase === "connecting" || (state.phase === "connected" && state.interruptedAt === undefined);
  const statusText = isUnderWay ? t(ongoingCallKeys[kind], { time }) : t(getCallBarStatusKey(state));
  return (
    <section
      // The bar in the chat with the other person is below the header and shows no name.
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
          <span className={`text-sm tabular-nums ${name === undefined ? "font-semibold" : ""}`}>{statusText}</span>
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
      {/* The bar does not take the focus from somebody who types, so it announces itself. */}
      {isRinging && (
        <span role="alert" className="sr-only">
          {statusText} {name}
        </span>
      )}
      {/* The state of the other phone changes by itself. */}
      <span role="status" className="sr-only">
        {state.phase === "outgoing" && state.peer !== undefined && statusText}
      </span>
      {children}
      {isRinging ? (
        <>
          <CallActionButton action="decline" kind={kind} />
          <CallActionButton action="accept" kind={kind} />
        </>
      ) : (
        <CallActionButton action="hangUp" kind={kind} />
      )}
    </section>
  );
}
