import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { setCameraOn } from "#calls/actions.ts";
import type { TextKey } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { CallWarning } from "./call-warnings.ts";

type WarningLineProps = { tone: CallWarning["tone"]; isLate?: boolean; children: ReactNode; action?: ReactNode };

function WarningLine({ tone, isLate = false, children, action }: WarningLineProps) {
  return (
    <div
      style={isLate ? { animationDelay: "1.2s" } : undefined}
      className={`flex min-h-10 w-full max-w-104 shrink-0 flex-wrap items-center justify-end rounded-card ${isLate ? "late" : ""} py-1 pr-1 pl-3 text-left text-sm ${tone === "danger" ? "bg-danger-soft text-danger" : "bg-raised text-text"}`}
    >
      <span className="flex min-w-[9rem] flex-1 items-center gap-2 pr-2">
        <span
          className={`shrink-0 text-xl ${tone === "danger" ? "i-ph-warning-circle-fill" : "i-ph-info-fill"}`}
          aria-hidden="true"
        />
        <span className="min-w-0 flex-1 break-words">{children}</span>
      </span>
      {action}
    </div>
  );
}

const remedyLook = "min-h-12 shrink-0 rounded-card px-3 font-semibold text-accent hover:bg-surface";

type CallWarningLinesProps = {
  warnings: CallWarning[];
  name: string;
  onUnblock: (() => void) | undefined;
  /** Ends the call and records a voice message. */
  onVoiceMessage: () => void;
};

const remedyLabels = {
  camera: "calls.notice.thinAgain",
  voiceMessage: "calls.notice.peerAsleepRecord",
} as const satisfies Record<NonNullable<CallWarning["remedy"]>, TextKey>;

/** Warnings of a call with their remedies. */
export function CallWarningLines({ warnings, name, onUnblock, onVoiceMessage }: CallWarningLinesProps) {
  const { t } = useTranslation();
  return (
    <div role="status" className="flex w-full shrink-0 flex-col items-center gap-2 empty:hidden">
      {onUnblock && (
        <WarningLine
          tone="danger"
          action={
            <button type="button" className={remedyLook} onClick={onUnblock}>
              {t("calls.notice.silentAgain")}
            </button>
          }
        >
          {t("calls.notice.silent")}
        </WarningLine>
      )}
      {warnings.map(({ key, tone, remedy, isLate = false }) => (
        <WarningLine
          key={key}
          tone={tone}
          isLate={isLate}
          action={
            remedy && (
              <button
                type="button"
                className={remedyLook}
                onClick={remedy === "camera" ? () => setCameraOn(true) : onVoiceMessage}
              >
                {t(remedyLabels[remedy])}
              </button>
            )
          }
        >
          {t(key, { name: isolateBidi(name) })}
        </WarningLine>
      ))}
    </div>
  );
}
