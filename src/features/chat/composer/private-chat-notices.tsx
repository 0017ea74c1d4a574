import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { NumberNotice } from "#contract/people.ts";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { confirmNumberNotice } from "#sync/actions/contacts.ts";
import { usePerson } from "#sync/hooks/use-people.ts";
import { useTextDraft } from "#sync/hooks/use-unsent.ts";
import { useUnsentContent } from "#sync/hooks/use-unsent-content.ts";
import { ComposerNotice } from "./composer-notice.tsx";
import { unblockWithToast } from "./unblock-with-toast.ts";

const UnsentContentPanel = lazyComponent(() =>
  loadWithIdleTexts(() => import("#features/chat/unsent/unsent-content.tsx")),
);

/** Draft, files and recordings of this chat that were not sent, if there are any. */
function UnsentContent({ conversation }: { conversation: ConversationId }) {
  const draft = useTextDraft(conversation) ?? "";
  const unsent = useUnsentContent(conversation);
  const hasUnsent = draft !== "" || (unsent && unsent.files.length + unsent.recordings.length > 0);
  return hasUnsent && <UnsentContentPanel conversation={conversation} draft={draft} unsent={unsent} />;
}

type BlockedNoticeProps = { userId: Uuid; conversation: ConversationId; name: string };

/** Replaces the composer while this user blocks the peer. */
export function BlockedNotice({ userId, conversation, name }: BlockedNoticeProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const unblock = async () => {
    setBusy(true);
    await unblockWithToast(userId, name);
    setBusy(false);
  };
  return (
    <>
      <UnsentContent conversation={conversation} />
      <ComposerNotice text={t("people.youBlocked", { name: isolateBidi(name) })}>
        <Button variant="quiet" className="!px-3" busy={isBusy} onClick={() => void unblock()}>
          {t("people.unblock")}
        </Button>
      </ComposerNotice>
    </>
  );
}

type NumberNoticeBarProps = BlockedNoticeProps & { kind: NumberNotice };

/**
 * Notice of a change of the peer's number, until this user confirms it: in place of the composer if the number is
 * somebody else's, otherwise above it.
 */
export function NumberNoticeBar({ userId, conversation, name, kind }: NumberNoticeBarProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    await runWithToast(() => confirmNumberNotice(userId), { failed: t("number.notice.confirmFailed") });
    setBusy(false);
  };
  const hasLeft = kind === "left";
  return (
    <>
      {hasLeft && <UnsentContent conversation={conversation} />}
      <ComposerNotice text={t(hasLeft ? "number.notice.left" : "number.notice.changed", { name: isolateBidi(name) })}>
        <Button variant="quiet" className="!px-3" busy={isBusy} onClick={() => void confirm()}>
          {t(hasLeft ? "number.notice.confirm" : "number.notice.understood")}
        </Button>
      </ComposerNotice>
    </>
  );
}

/** Replaces the composer when the peer's account was deleted. */
export function DeletedAccountNotice({ conversation }: { conversation: ConversationId }) {
  const { t } = useTranslation();
  return (
    <>
      <UnsentContent conversation={conversation} />
      <ComposerNotice text={t("chat.accountDeleted")} />
    </>
  );
}

const actionClasses = "inline-flex min-h-12 items-center gap-2 rounded-card px-3 font-semibold";

/** Next step towards a connection: find people, answer the received request, or wait for the sent one. */
function ConnectAction({ state }: { state: string | undefined }) {
  const { t } = useTranslation();
  if (state === "sent") {
    return (
      <button type="button" disabled className={`${actionClasses} text-muted`}>
        <span className="i-ph-paper-plane-tilt text-xl" aria-hidden="true" />
        {t("senga.requestSent")}
      </button>
    );
  }
  const isReceived = state === "received";
  return (
    <Link to="/app/senga" className={`${actionClasses} text-accent hover:bg-raised`}>
      <span className={`${isReceived ? "i-ph-user-check" : "i-ph-user-plus"} text-xl`} aria-hidden="true" />
      {t(isReceived ? "chat.acceptRequest" : "chat.findPeople")}
    </Link>
  );
}

/** Replaces the composer when the two users are not connected. */
export function NotConnectedNotice({ userId, conversation }: { userId: Uuid; conversation: ConversationId }) {
  const { t } = useTranslation();
  return (
    <>
      <UnsentContent conversation={conversation} />
      <ComposerNotice text={t("chat.mustBeConnected")}>
        <ConnectAction state={usePerson(userId)?.state} />
      </ComposerNotice>
    </>
  );
}
