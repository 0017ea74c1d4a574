import { useT } from "../i18n/setup";
import { isolate } from "../lib/isolate";
import { acceptCall, hangUp, rejectCall, restore } from "./actions";
import { ongoingKey, statusKey } from "./call-words";
import { useCallClock } from "./use-clock";
import type { CallView } from "./views";

const round = "grid size-12 shrink-0 place-items-center rounded-full text-[24px] text-white";

type CallBarProps = {
  call: CallView;
  /** Who it is with, where the place does not say it. */
  name?: string;
  /** More that can be done, before the end. */
  children?: React.ReactNode;
};

/** A call whose screen is put away: what it is, the way back to it, and its end; one that rings can be taken. */
export default function CallBar({ call: { state }, name, children }: CallBarProps) {
  const t = useT();
  const time = useCallClock(state);
  const isRinging = state.at === "ringing";
  const isUnderWay = state.at === "connecting" || (state.at === "connected" && !state.isInterrupted);
  const words = isUnderWay ? t(ongoingKey[state.call.kind], { time }) : t(statusKey(state, false));
  const icon = state.call.kind === "video" ? "i-ph-video-camera-fill" : "i-ph-phone-fill";
  return (
    <section
      aria-label={t("calls.banner")}
      className="flex min-h-14 shrink-0 flex-wrap items-center justify-end gap-2 border-b border-line bg-accent-soft py-1 pr-2 pl-2 text-text"
    >
      <button
        type="button"
        className="flex min-h-12 min-w-[9rem] flex-1 items-center gap-3 rounded-card px-2 text-left hover:bg-raised"
        onClick={restore}
      >
        <span className={`${icon} shrink-0 text-2xl text-accent`} aria-hidden="true" />
        <span className="flex min-w-0 flex-1 flex-col leading-tight">
          {name !== undefined && <bdi className="truncate font-semibold">{name}</bdi>}
          <span className={name === undefined ? "font-semibold tabular-nums" : "text-sm tabular-nums"}>{words}</span>
        </span>
        <span className="sr-only">
          {name === undefined ? t("calls.restore") : t("calls.restoreName", { name: isolate(name) })}
        </span>
      </button>
      {children}
      {isRinging ? (
        <>
          <button
            type="button"
            aria-label={t("calls.decline")}
            title={t("calls.decline")}
            className={`${round} bg-danger hover:opacity-90`}
            onClick={rejectCall}
          >
            <span className="i-ph-phone-x-fill" aria-hidden="true" />
          </button>
          <button
            type="button"
            aria-label={t("calls.accept")}
            title={t("calls.accept")}
            className={`${round} bg-accept hover:opacity-90`}
            onClick={() => acceptCall()}
          >
            <span className={icon} aria-hidden="true" />
          </button>
        </>
      ) : (
        <button
          type="button"
          aria-label={t("calls.hangUp")}
          title={t("calls.hangUp")}
          className={`${round} bg-danger hover:opacity-90`}
          onClick={hangUp}
        >
          <span className="i-ph-phone-disconnect-fill" aria-hidden="true" />
        </button>
      )}
    </section>
  );
}
