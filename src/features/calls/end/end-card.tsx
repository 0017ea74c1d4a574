import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { dataUseMinBytes, formatMegabytes } from "#calls/ui/data-cost.ts";
import type { CallNotice, CallView } from "#calls/views.ts";
import { IconButton } from "#components/controls/icon-button.tsx";
import { toCallEntry } from "#components/messages/call-text.ts";
import { Avatar } from "#components/people/avatar.tsx";
import type { AvatarPerson } from "#components/people/avatar-text.ts";
import type { CallBody } from "#contract/calls/call.ts";
import { toCallNoticeText } from "#features/calls/host/call-notices.ts";
import { isLargeText } from "#features/calls/screen/screen-size.ts";
import { pushUse } from "#lib/browser/push/push-use.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useCallEntry } from "#sync/hooks/use-calls.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { usePerson } from "#sync/hooks/use-people.ts";
import { type EndCardState, scheduleDismiss, shouldAskFeedback } from "./end-card-timing.ts";
import { Feedback } from "./feedback.tsx";

type EndCardProps = {
  call: Extract<CallView["state"], { phase: "ended" }>;
  bytes: number;
  person: AvatarPerson;
  name: string;
  /** Notice about the end of the call; a call that was not answered shows it as a toast instead. */
  notice: CallNotice | undefined;
  onLeave: () => void;
};

const subscribeVisibility = (listener: () => void): (() => void) => {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
};
const readVisibility = (): boolean => document.visibilityState === "visible";

/**
 * Summary of an ended call: outcome, duration and data use. It stands for a short time above the current screen, in the
 * place of a minimized call's bar, longer while the person interacts with it.
 */
export function EndCard({ call, bytes, person, name, notice, onLeave }: EndCardProps) {
  const { t } = useTranslation();
  // The server's log entry, as soon as it is here.
  const logEntry = useCallEntry(call.call.conversation, call.call.id);
  // No feedback about somebody who was just removed or blocked.
  const isConnected = usePerson(call.call.peer)?.state === "contact";
  const isBlocked = useConversation(call.call.conversation)?.blocked === true;
  const asksFeedback = isConnected && !isBlocked && shouldAskFeedback(logEntry?.seconds ?? call.seconds);
  const [stage, setStage] = useState<EndCardState["stage"]>("asked");
  const [isTouched, setTouched] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isVisible = useSyncExternalStore(subscribeVisibility, readVisibility);
  const isPaused = isTouched || isFocused || !isVisible;
  const leave = useEffectEvent(onLeave);
  useEffect(() => scheduleDismiss({ asksFeedback, stage, isPaused }, () => leave()), [asksFeedback, stage, isPaused]);
  useEffect(() => () => pushUse.set("may-ask"), []); // once the card is gone, so that it is not covered
  const { id, kind, isCaller } = call.call;
  const { status, seconds, reason, isElsewhere } = call;
  const localEntry: CallBody = { type: "call", id, kind, status, seconds, ...(reason ? { reason } : {}) };
  const body = logEntry ?? localEntry;
  if (notice && seconds === 0) return null;
  const line = toCallEntry(body, { isMine: isCaller, peerName: name }, t);
  const noticeText = notice && toCallNoticeText(notice, isolateBidi(name), t);
  const details = [
    ...(line.duration === undefined || isElsewhere ? [] : [line.duration]),
    ...(bytes >= dataUseMinBytes ? [formatMegabytes(bytes)] : []),
  ];
  return (
    <section
      data-call
      aria-label={t("calls.with", { name })}
      className="shrink-0 border-b border-line bg-surface py-1 pr-1 pl-3 text-text"
      onPointerEnter={() => setTouched(true)}
      onPointerLeave={() => setTouched(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <div className="flex items-center gap-3">
        {!isLargeText() && <Avatar person={person} size={40} />}
        <div role="status" className="min-w-0 flex-1 py-2 leading-tight">
          <p className={`font-semibold ${line.isUnsuccessful ? "text-danger" : ""}`}>
            {isElsewhere ? t("calls.elsewhere") : line.text}
          </p>
          {/* The separator at the beginning of a line is cut off. */}
          <p className="overflow-hidden text-sm text-muted">
            <span className="-ml-3 flex flex-wrap">
              <bdi className="max-w-full truncate pl-3">{name}</bdi>
              {details.length > 0 && (
                <span className="whitespace-nowrap before:inline-block before:w-3 before:text-center before:content-['·']">
                  {details.join(" · ")}
                </span>
              )}
            </span>
          </p>
          {noticeText && (
            <p className={`text-sm break-words ${noticeText.tone === "danger" ? "text-danger" : ""}`}>
              <b className="block font-semibold">{noticeText.title}</b> {noticeText.message}
            </p>
          )}
        </div>
        <IconButton icon="i-ph-x" label={t("common.close")} onClick={onLeave} />
      </div>
      {asksFeedback && (
        <Feedback call={call} onJudging={() => setStage("judging")} onSent={() => setStage("thanked")} />
      )}
    </section>
  );
}
