import { useTranslation } from "react-i18next";
import { hangUpOtherTabCall, resumeOtherTabCall } from "#calls/actions.ts";
import type { OtherTabCall } from "#calls/controller/other-tab-call.ts";
import { CallActionButton, createPressHandler } from "#calls/ui/call-action-button.tsx";
import { Button } from "#components/controls/button.tsx";
import { toDisplayName, toNameOrNumber } from "#components/people/person-name.ts";
import { useProfile } from "#sync/hooks/use-people.ts";

/**
 * Banner of a call that belongs to another tab of this browser, which is why no call can be started here. If that tab
 * is closed, the call can be resumed in this one.
 */
export default function OtherTabBanner({ call: { peer, kind }, isGone }: OtherTabCall) {
  const { t } = useTranslation();
  const [profile] = useProfile(peer);
  const person = profile.state === "found" ? profile.person : undefined;
  const name = (person && toNameOrNumber(person)) || toDisplayName(person, t);
  return (
    <div
      data-call
      className="flex min-h-14 shrink-0 flex-wrap items-center justify-end gap-2 border-b border-line bg-accent-soft py-1 pr-2 pl-3 text-text"
    >
      <span
        className={`${kind === "video" ? "i-ph-video-camera-fill" : "i-ph-phone-fill"} shrink-0 text-2xl text-accent max-[400px]:hidden`}
        aria-hidden="true"
      />
      <p role="status" className="flex min-w-[144px] flex-1 flex-col px-1 py-1 leading-tight">
        <bdi className="truncate font-semibold">{name}</bdi>
        <span className="text-sm">{t(isGone ? "calls.otherTabGone" : "calls.otherTab")}</span>
      </p>
      {isGone && (
        <Button variant="primary" onClick={createPressHandler("accept", resumeOtherTabCall)}>
          {t("calls.resume")}
        </Button>
      )}
      <CallActionButton action="hangUp" kind={kind} onPress={hangUpOtherTabCall} />
    </div>
  );
}
