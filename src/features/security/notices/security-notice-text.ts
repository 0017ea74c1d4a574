import { useTranslation } from "react-i18next";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import { isSameDay } from "#i18n/relative-date.ts";
import { useFormat } from "#i18n/use-format.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

const eventsElsewhere: SecurityNotice["event"][] = ["number_changed", "number_lost", "number_contested"];

/**
 * Formats a notice in one line: event, device and time. For a closed session the device is the session's own; what
 * happens to a number comes from no device.
 */
export const useSecurityNoticeText = () => {
  const { t } = useTranslation();
  const format = useFormat();
  return ({ event, device, at }: SecurityNotice): string => {
    const time = format.time(at);
    const line = event === "session_reused" ? "security.notices.lineOf" : "security.notices.line";
    return t(eventsElsewhere.includes(event) ? "security.notices.lineAlone" : line, {
      event: t(`security.notices.events.${event}`),
      device: device === "" ? t("security.notices.unknownDevice") : isolateBidi(device),
      when: isSameDay(at, Date.now()) ? time : `${format.date(at)}, ${time}`,
    });
  };
};
