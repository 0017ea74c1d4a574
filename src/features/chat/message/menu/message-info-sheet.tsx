import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { useLoaded } from "#components/layout/use-loaded.ts";
import { MessagePreview } from "#components/messages/message-preview.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import type { ConversationId } from "#contract/ids.ts";
import type { ReceiptTime } from "#contract/wire/message-info.ts";
import { formatTime } from "#i18n/format.ts";
import { formatDayHeading } from "#i18n/relative-date.ts";
import type { Translate } from "#i18n/setup.ts";
import { fetchMessageInfo } from "#sync/actions/fetch-message-info.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";

const formatMoment = (at: number): string => `${formatDayHeading(at)}, ${formatTime(at)}`;

/** Text of a received time; null is a receipt that has not come. */
const formatReceiptTime = (time: ReceiptTime | null, t: Translate): string => {
  if (!time) return t("messages.info.none");
  if (time.at === null) return t("messages.info.unknown");
  return time.isExact ? formatMoment(time.at) : t("messages.info.latest", { when: formatMoment(time.at) });
};

type MessageInfoSheetProps = {
  conversation: ConversationId;
  item: ChatItem & { seq: number };
  onClose: () => void;
};

/**
 * Times at which an own message of a private chat was sent, delivered and read. Without a network it shows what the
 * ticks say.
 */
export default function MessageInfoSheet({ conversation, item, onClose }: MessageInfoSheetProps) {
  const { t } = useTranslation();
  const isOnline = useLinkState() === "online";
  const { receipts: seesReads } = useSettings();
  const { seq, status, at, body } = item;
  // Another status has another time.
  const key = isOnline ? `${conversation} ${seq} ${status}` : undefined;
  const { value: info, failure, retry } = useLoaded(key, () => fetchMessageInfo(conversation, seq));
  const hasFailed = failure !== undefined;
  const hasTick = { delivered: status === "delivered" || status === "read", read: status === "read" };
  const describeReceipt = (kind: "delivered" | "read"): string => {
    if (kind === "read" && !seesReads && !info?.read && !hasTick.read) return t("messages.info.hidden");
    if (info) return formatReceiptTime(info[kind], t);
    if (isOnline && !hasFailed) return t("common.loading");
    return t(hasTick[kind] ? "messages.info.confirmed" : "messages.info.none");
  };
  const rows = [
    { label: t("messages.info.sent"), icon: "i-ph-check-bold text-muted", text: formatMoment(at) },
    {
      label: t("messages.info.delivered"),
      icon: "i-ph-checks-bold text-muted",
      text: describeReceipt("delivered"),
    },
    { label: t("messages.info.read"), icon: "i-ph-checks-bold text-read", text: describeReceipt("read") },
  ];
  return (
    <Sheet title={t("messages.info.title")} onClose={onClose}>
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-safe">
        <p className="mx-4 mb-3 truncate rounded-card bg-raised px-3 py-2 text-sm text-muted">
          <MessagePreview body={body} />
        </p>
        <dl>
          {rows.map(({ label, icon, text }) => (
            <div key={label} className="relative flex min-h-16 flex-col justify-center py-2 pr-4 pl-12">
              <dt className="text-sm text-muted">
                <span
                  className={`${icon} absolute top-1/2 left-4 [transform:translateY(-50%)] text-xl`}
                  aria-hidden="true"
                />
                {label}
              </dt>
              <dd className="font-medium">{text}</dd>
            </div>
          ))}
        </dl>
        {!seesReads && <p className="px-4 py-2 text-sm text-muted">{t("messages.info.receiptsOff")}</p>}
        {!info && !isOnline && (
          <p role="status" className="px-4 py-2 text-sm text-muted">
            {t("messages.info.offline")}
          </p>
        )}
        {!info && isOnline && hasFailed && (
          <div role="alert" className="grid justify-items-center gap-3 p-4 text-center">
            <p>{t("messages.info.failed")}</p>
            <Button variant="secondary" onClick={retry}>
              {t("common.retry")}
            </Button>
          </div>
        )}
      </div>
    </Sheet>
  );
}
