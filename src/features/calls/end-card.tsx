import { useEffect, useEffectEvent, useState } from "react";
import type { CallBody } from "../../../contract/calls";
import { formatMegabytes, toldFromBytes } from "../../calls/data-use";
import type { CallSaying, CallView } from "../../calls/views";
import { Avatar, type AvatarPerson } from "../../components/avatar";
import { callLine } from "../../components/call-line";
import { IconButton } from "../../components/icon-button";
import { useT } from "../../i18n/setup";
import { isolate } from "../../lib/isolate";
import { useCallBody } from "../../sync/hooks";
import { Feedback } from "./feedback";
import { wordsOf } from "./sayings";

const shownMs = 3_000;
const askedMs = 10_000;
const thankedMs = 1_500;
/** A shorter call leaves little to judge. */
const judgedFromSeconds = 20;

type EndCardProps = {
  call: Extract<CallView["state"], { at: "ended" }>;
  bytes: number;
  person: AvatarPerson;
  name: string;
  /** It rang here, and was taken on another device. */
  isElsewhere: boolean;
  /** What there is to say of its end: here, or in a toast of a call that was not talked. */
  said: CallSaying | undefined;
  onLeave: () => void;
};

/** A call that is over: why, how long it was and what it took; shortly, beside whatever the person does now. */
export function EndCard({ call, bytes, person, name, isElsewhere, said, onLeave }: EndCardProps) {
  const t = useT();
  const asks = call.seconds > judgedFromSeconds;
  const [stage, setStage] = useState<"asked" | "judging" | "thanked">("asked");
  const leave = useEffectEvent(onLeave);
  useEffect(() => {
    const timer = setTimeout(() => leave(), stage === "thanked" ? thankedMs : asks ? askedMs : shownMs);
    return () => clearTimeout(timer);
  }, [asks, stage]);
  const { id, kind, conversation, isCaller } = call.call;
  const { status, seconds, reason } = call;
  // In the log's own words: the server's, as soon as they are here.
  const own: CallBody = { type: "call", id, kind, status, seconds, ...(reason ? { reason } : {}) };
  const body = useCallBody(conversation, id) ?? own;
  if (said && seconds === 0) return null;
  const line = callLine(body, { isMine: isCaller, name }, t);
  const words = said && wordsOf(said, isolate(name), t);
  const details = [
    ...(line.length === undefined || isElsewhere ? [] : [line.length]),
    ...(bytes >= toldFromBytes ? [formatMegabytes(bytes)] : []),
  ];
  return (
    <div className="pointer-events-none fixed inset-x-0 top-[80px] z-40 flex justify-center px-3 pt-safe">
      <section
        data-call
        aria-label={t("calls.with", { name })}
        className="rise pointer-events-auto w-full max-w-104 rounded-card border border-line bg-surface py-1 pr-1 pl-3 text-text shadow-lg"
      >
        <div className="flex items-center gap-3">
          <Avatar person={person} size={40} />
          <div role="status" className="min-w-0 flex-1 py-2">
            <p className={`font-semibold ${line.isBad ? "text-danger" : ""}`}>
              {isElsewhere ? t("calls.elsewhere") : line.text}
            </p>
            <p className="flex flex-wrap gap-x-2 text-sm text-muted">
              <bdi className="max-w-full truncate">{name}</bdi>
              <span className="whitespace-nowrap">{details.join(" · ")}</span>
            </p>
            {words && (
              <p className={`text-sm break-words ${words.tone === "danger" ? "text-danger" : ""}`}>
                <b className="block font-semibold">{words.title}</b> {words.message}
              </p>
            )}
          </div>
          <IconButton icon="i-ph-x" label={t("common.close")} onClick={onLeave} />
        </div>
        {asks && <Feedback call={call} onJudging={() => setStage("judging")} onSent={() => setStage("thanked")} />}
      </section>
    </div>
  );
}
