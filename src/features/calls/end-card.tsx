import { useEffect, useEffectEvent, useState } from "react";
import { formatMegabytes, toldFromBytes } from "../../calls/data-use";
import type { CallView } from "../../calls/views";
import { Avatar, type AvatarPerson } from "../../components/avatar";
import { IconButton } from "../../components/icon-button";
import { formatLength } from "../../i18n/format";
import { useT } from "../../i18n/setup";
import { Feedback } from "./feedback";

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
  text: string;
  /** A toast says why already. */
  isTold: boolean;
  onLeave: () => void;
};

/** A call that is over: why, how long it was and what it took; shortly, beside whatever the person does now. */
export function EndCard({ call, bytes, person, name, text, isTold, onLeave }: EndCardProps) {
  const t = useT();
  const asks = call.seconds > judgedFromSeconds;
  const [stage, setStage] = useState<"asked" | "judging" | "thanked">("asked");
  const leave = useEffectEvent(onLeave);
  useEffect(() => {
    const timer = setTimeout(() => leave(), stage === "thanked" ? thankedMs : asks ? askedMs : shownMs);
    return () => clearTimeout(timer);
  }, [asks, stage]);
  if (isTold && call.seconds === 0) return null;
  const details = [
    ...(call.seconds > 0 ? [formatLength(call.seconds * 1_000, true)] : []),
    ...(bytes >= toldFromBytes ? [formatMegabytes(bytes)] : []),
  ];
  return (
    <div className="pointer-events-none fixed inset-x-0 top-[80px] z-40 flex justify-center px-3 pt-safe">
      <section
        aria-label={t("calls.with", { name })}
        className="rise pointer-events-auto w-full max-w-104 rounded-card border border-line bg-surface py-1 pr-1 pl-3 text-text shadow-lg"
      >
        <div className="flex items-center gap-3">
          <Avatar person={person} size={40} />
          <div role="status" className="min-w-0 flex-1 py-2">
            <p className={`font-semibold ${call.status === "missed" && !call.call.isCaller ? "text-danger" : ""}`}>
              {text}
            </p>
            <p className="flex flex-wrap gap-x-2 text-sm text-muted">
              <bdi className="max-w-full truncate">{name}</bdi>
              <span className="whitespace-nowrap">{details.join(" · ")}</span>
            </p>
          </div>
          <IconButton icon="i-ph-x" label={t("common.close")} onClick={onLeave} />
        </div>
        {asks && <Feedback call={call} onJudging={() => setStage("judging")} onSent={() => setStage("thanked")} />}
      </section>
    </div>
  );
}
