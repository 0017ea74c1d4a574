import { useTranslation } from "react-i18next";
import type { MessageStatus } from "#contract/conversations.ts";

const tickClasses = {
  sending: "i-ph-clock text-muted",
  sent: "i-ph-check-bold text-muted",
  delivered: "i-ph-checks-bold text-muted",
  read: "i-ph-checks-bold text-read",
  failed: "i-ph-warning-circle-fill text-danger",
} as const satisfies Record<MessageStatus | "failed", string>;

/** Delivery status of an own message as a labelled icon. */
export function MessageTicks({ status }: { status: MessageStatus | "failed" }) {
  const { t } = useTranslation();
  return (
    <span role="img" aria-label={t(`chat.status.${status}`)} className={`${tickClasses[status]} shrink-0 text-base`} />
  );
}
