import { useTranslation } from "react-i18next";
import type { MessageStatus } from "#contract/messages/status.ts";
import { tickClasses } from "./tick-classes.ts";

/** Delivery status of an own message as a labelled icon. */
export function MessageTicks({ status }: { status: MessageStatus | "failed" }) {
  const { t } = useTranslation();
  return (
    <span role="img" aria-label={t(`chat.status.${status}`)} className={`${tickClasses[status]} shrink-0 text-base`} />
  );
}
