import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, ButtonLink } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { PendingContent } from "#components/layout/pending-content.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import type { OwnInvitation } from "#contract/names/invitation.ts";
import { useFormat } from "#i18n/use-format.ts";
import { toSmsLink } from "./sms-link.ts";
import type { InvitationState } from "./use-invitation.ts";

type Invitation = NonNullable<OwnInvitation["invitation"]>;

/** Ways to send the link. Phones open the messages app and WhatsApp by these addresses. */
function SendButtons({ url }: { url: string }) {
  const { t } = useTranslation();
  const message = t("invite.message", { url });
  const copied = { done: t("invite.copied"), failed: t("invite.copyFailed") };
  return (
    <div className="flex flex-wrap gap-3">
      <ButtonLink variant="secondary" className="grow" href={toSmsLink(message)}>
        <IconLabel icon="i-ph-chat-text" label={t("invite.sms")} />
      </ButtonLink>
      <ButtonLink
        variant="secondary"
        className="grow"
        href={`https://wa.me/?text=${encodeURIComponent(message)}`}
        target="_blank"
        rel="noopener noreferrer"
      >
        <IconLabel icon="i-ph-whatsapp-logo" label={t("invite.whatsapp")} />
      </ButtonLink>
      {"share" in navigator && (
        // Closing the share sheet rejects too.
        <Button className="grow" onClick={() => void navigator.share({ text: message }).catch(() => undefined)}>
          <IconLabel icon="i-ph-share-network" label={t("invite.share")} />
        </Button>
      )}
      <Button variant="secondary" className="grow" onClick={() => void copyText(url, copied)}>
        <IconLabel icon="i-ph-copy" label={t("invite.copy")} />
      </Button>
    </div>
  );
}

type PresentInvitationProps = { invitation: Invitation; isBusy: boolean; onRevoke: () => Promise<void> };

function PresentInvitation({ invitation, isBusy, onRevoke }: PresentInvitationProps) {
  const { t } = useTranslation();
  const { date } = useFormat();
  const [isConfirming, setConfirming] = useState(false);
  const { url, expires_at, uses_left } = invitation;
  return (
    <div className="flex flex-col gap-4 p-4">
      <p className="rounded-card bg-raised px-4 py-3 text-center text-sm break-all select-all" dir="ltr">
        {url}
      </p>
      <p className="text-sm text-muted">{t("invite.valid", { count: uses_left, date: date(expires_at) })}</p>
      <SendButtons url={url} />
      <Button variant="quiet" onClick={() => setConfirming(true)}>
        {t("invite.revoke")}
      </Button>
      <ConfirmDialog
        open={isConfirming}
        title={t("invite.revokeTitle")}
        body={t("invite.revokeBody")}
        confirmLabel={t("invite.revoke")}
        cancelLabel={t("common.cancel")}
        busy={isBusy}
        onConfirm={() => void onRevoke().then(() => setConfirming(false))}
        onClose={() => setConfirming(false)}
      />
    </div>
  );
}

/** Own invitation: create, send and revoke it. */
export function InvitationCard({ invitation }: { invitation: InvitationState }) {
  const { t } = useTranslation();
  const { own, query, retry, isBusy } = invitation;
  const card = useRef<HTMLDivElement>(null);
  const url = own?.invitation?.url;
  // The pressed button disappears: the first one of what replaces it receives the focus.
  const change = useRef<{ from: string | undefined }>(undefined);
  useEffect(() => {
    if (change.current && change.current.from !== url) card.current?.querySelector<HTMLElement>("a, button")?.focus();
    change.current = undefined;
  }, [url]);
  const run = async (command: () => Promise<OwnInvitation | undefined>) => {
    change.current = { from: url };
    if (!(await command())) change.current = undefined;
  };
  if (!own) return <PendingContent query={query} retry={retry} />;
  return (
    <div ref={card}>
      {own.invitation ? (
        <PresentInvitation invitation={own.invitation} isBusy={isBusy} onRevoke={() => run(invitation.revoke)} />
      ) : (
        <div className="flex flex-col p-4">
          <Button busy={isBusy} onClick={() => void run(invitation.create)}>
            <IconLabel icon="i-ph-share-network" label={t("invite.create")} />
          </Button>
        </div>
      )}
    </div>
  );
}
