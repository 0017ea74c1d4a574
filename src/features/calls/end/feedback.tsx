import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { CallView } from "#calls/views.ts";
import type { CallProblem, CallRating } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { isLargeText } from "#features/calls/screen/screen-size.ts";
import type { TextKey } from "#i18n/setup.ts";
import { requestApi } from "#lib/http/api.ts";

const problems: [CallProblem, TextKey][] = [
  ["sound", "calls.feedback.sound"],
  ["picture", "calls.feedback.picture"],
  ["dropped", "calls.feedback.dropped"],
];

const optionLook =
  "inline-flex min-h-12 min-w-fit flex-1 items-center justify-center gap-2 rounded-card border border-field px-3 py-2 font-semibold hover:bg-raised";

/** Moves the focus here if the pressed button is gone. */
const focusIfLost = (button: HTMLButtonElement | null): void => {
  if (document.activeElement === document.body) button?.focus();
};

/** Sends a person's rating of a call. Failures are ignored. */
const sendCallFeedback = async (
  { id, conversation }: { id: Uuid; conversation: ConversationId },
  rating: CallRating,
): Promise<void> => {
  try {
    await requestApi("PUT", `/api/calls/${id}/feedback`, { conversation, ...rating });
  } catch {
    // The person is thanked even if the rating could not be sent.
  }
};

type FeedbackProps = {
  call: Extract<CallView["state"], { phase: "ended" }>;
  onJudging: () => void;
  onSent: () => void;
};

/** Feedback form: one tap for a good call, a second one with the reason for a bad call. */
export function Feedback({ call: { call }, onJudging, onSent }: FeedbackProps) {
  const { t } = useTranslation();
  const [stage, setStage] = useState<"asked" | "bad" | "sent">("asked");
  const send = (rating: CallRating) => {
    void sendCallFeedback(call, rating);
    setStage("sent");
    onSent();
  };
  if (stage === "sent") {
    return (
      <p role="status" className="pr-2 pb-3 font-semibold text-accent">
        {t("calls.feedback.thanks")}
      </p>
    );
  }
  const isBad = stage === "bad";
  const labelClass = isLargeText() ? "sr-only" : "";
  return (
    <fieldset className="min-w-0 pr-2 pb-2">
      <legend className="max-w-full px-0 pb-2 leading-tight">
        {t(isBad ? "calls.feedback.why" : "calls.feedback.question")}
      </legend>
      {isBad ? (
        <div className="flex flex-col gap-2">
          {problems
            .filter(([reason]) => reason !== "picture" || call.kind === "video")
            .map(([reason, key], index) => (
              <button
                key={reason}
                ref={index === 0 ? focusIfLost : undefined}
                type="button"
                className={optionLook}
                onClick={() => send({ good: false, reason })}
              >
                {t(key)}
              </button>
            ))}
        </div>
      ) : (
        <div className="flex flex-wrap gap-2">
          <button type="button" className={optionLook} onClick={() => send({ good: true })}>
            <span className="i-ph-thumbs-up text-xl" aria-hidden="true" />
            <span className={labelClass}>{t("calls.feedback.good")}</span>
          </button>
          <button
            type="button"
            className={optionLook}
            onClick={() => {
              setStage("bad");
              onJudging();
            }}
          >
            <span className="i-ph-thumbs-down text-xl" aria-hidden="true" />
            <span className={labelClass}>{t("calls.feedback.bad")}</span>
          </button>
        </div>
      )}
    </fieldset>
  );
}
