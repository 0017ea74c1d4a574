import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { isNearScrollEnd } from "#components/layout/scroll-end.ts";
import { useLoaded } from "#components/layout/use-loaded.ts";
import { MessagePreview } from "#components/messages/message-preview.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { PersonListItem } from "#components/people/person-row.tsx";
import type { Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { findSender } from "#features/chat/message/senders.ts";
import { fetchReceipts } from "#sync/actions/groups.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import type { DisplayedStatus } from "#sync/store/view-models.ts";

const receiptPageSize = 40;

const receiptSections = [
  { id: "read", icon: "i-ph-checks-bold text-read" },
  { id: "delivered", icon: "i-ph-checks-bold text-muted" },
  { id: "sent", icon: "i-ph-check-bold text-muted" },
] as const;

type ReceiptsSheetProps = {
  group: Uuid;
  ownNumber: number;
  seq: number;
  body: StoredBody;
  /** Displayed status; a change means that another member has received or read the message. */
  status: DisplayedStatus;
  onClose: () => void;
};

/** Members who have read, received or not yet received an own group message. */
export default function ReceiptsSheet({ group, ownNumber, seq, body, status, onClose }: ReceiptsSheetProps) {
  const { t } = useTranslation();
  const isOnline = useLinkState() === "online";
  const key = `${group} ${seq} ${status} ${isOnline}`;
  const { value: receipts, failure, retry } = useLoaded(key, () => fetchReceipts(group, seq));
  const [limit, setLimit] = useState(receiptPageSize);
  const numbers = useMemo(
    () => (receipts ? [...receipts.read, ...receipts.delivered, ...receipts.sent] : []),
    [receipts],
  );
  const shown = useMemo(() => new Set(numbers.slice(0, limit)), [numbers, limit]);
  const shownNumbers = useMemo(() => [...shown], [shown]);
  const members = { ownNumber, profiles: useMemberProfiles(group, shownNumbers) };

  return (
    <Sheet title={t("groups.receipts.title")} onClose={onClose}>
      <p className="mx-4 mb-3 shrink-0 truncate rounded-card bg-raised px-3 py-2 text-sm text-muted">
        <MessagePreview body={body} />
      </p>
      {failure !== undefined && !receipts ? (
        <div role="alert" className="grid justify-items-center gap-3 p-6 text-center">
          <p className="font-semibold">{t("groups.receipts.failed")}</p>
          <p className="text-muted">{t(`errors.${asSyncError(failure).code}`)}</p>
          <Button variant="secondary" onClick={retry}>
            {t("common.retry")}
          </Button>
        </div>
      ) : !receipts ? (
        <div className="grid flex-1 place-items-center text-accent">
          <Spinner label={t("common.loading")} className="text-4xl" />
        </div>
      ) : (
        <div
          className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-safe"
          onScroll={({ currentTarget }) => {
            if (isNearScrollEnd(currentTarget)) setLimit((limit) => limit + receiptPageSize);
          }}
        >
          {numbers.length === 0 && <p className="p-6 text-center text-muted">{t("groups.receipts.nobody")}</p>}
          {receiptSections.map(({ id, icon }) => {
            const visible = receipts[id].filter((number) => shown.has(number));
            if (receipts[id].length === 0) return null;
            return (
              <section key={id} aria-labelledby={`receipts-${id}`}>
                <h3
                  id={`receipts-${id}`}
                  className="flex items-center gap-2 px-4 pt-4 pb-1 text-sm font-semibold text-muted"
                >
                  <span className={`${icon} text-base`} aria-hidden="true" />
                  {t(`groups.receipts.${id}`, { count: receipts[id].length })}
                </h3>
                <ul>
                  {visible.map((number) => {
                    const sender = findSender({ name: "", members }, number, t);
                    return (
                      <li key={number} className="flex min-h-16 items-center px-4 py-2">
                        {sender && (
                          <PersonListItem
                            person={{ phone: "", avatar: null, ...sender.person, username: sender.name }}
                          />
                        )}
                      </li>
                    );
                  })}
                </ul>
              </section>
            );
          })}
        </div>
      )}
    </Sheet>
  );
}
