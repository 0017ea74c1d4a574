import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate, useParams } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { useLoaded } from "#components/layout/use-loaded.ts";
import type { Uuid } from "#contract/ids.ts";
import { failedShares } from "#contract/wire/share-target.ts";
import type { TextKey } from "#i18n/setup.ts";
import { discardShare, type OpenedShare, openShare } from "#lib/browser/share/stored-share.ts";
import { useSession } from "#lib/session/use-session.ts";
import { ShareForm } from "./share-form.tsx";

/** Opens a share, and again after `reopen`: undefined while it is read, null if it cannot be opened. */
const useOpenedShare = (id: Uuid, me: Uuid) => {
  const { value: share, repeat: reopen } = useLoaded(`${id} ${me}`, () =>
    openShare(id, me, Date.now()).then(
      (opened) => opened ?? null,
      () => null,
    ),
  );
  return { share, reopen };
};

/**
 * Whether another site may have sent a share, which may hide its origin. The system shares only to an installed app,
 * which has a window of its own.
 */
const mayBeFromSite = ({ isFromSite }: OpenedShare): boolean =>
  isFromSite || matchMedia("(display-mode: browser)").matches;

const failureTexts: Record<string, readonly [title: TextKey, body: TextKey]> = {
  [failedShares.missed]: ["share.missedTitle", "share.missedBody"],
  [failedShares.noRoom]: ["share.noRoomTitle", "share.noRoomBody"],
  [failedShares.empty]: ["share.emptyTitle", "share.emptyBody"],
};
const goneTexts = ["share.goneTitle", "share.goneBody"] as const;

/** Screen of content shared by another app: a preview, and the choice of the contacts and groups who receive it. */
export default function ShareScreen() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { shareId = "" } = useParams();
  const me = useSession()?.userId ?? "";
  const { share, reopen } = useOpenedShare(shareId, me);
  const [isAccepted, setAccepted] = useState(false);
  const leave = () => void navigate("/app", { replace: true });
  const discard = async () => {
    await discardShare(shareId).catch(() => undefined); // it expires
    leave();
  };
  const [failureTitle, failureBody] = failureTexts[shareId] ?? goneTexts;
  return (
    <Screen
      title={t("share.title")}
      description={t("share.description")}
      scrolls={false}
      hasProfileButton={false}
      actions={<IconButton icon="i-ph-x" label={t("common.cancel")} onClick={() => void discard()} />}
    >
      {share === undefined && <PaneSpinner />}
      {share === null && (
        <EmptyState
          icon="i-ph-tray-arrow-down"
          title={t(failureTitle)}
          body={t(failureBody)}
          action={<Button onClick={leave}>{t("shell.error.home")}</Button>}
        />
      )}
      {share && mayBeFromSite(share) && !isAccepted ? (
        <EmptyState
          icon="i-ph-warning"
          title={t("share.siteTitle")}
          body={t("share.siteBody")}
          action={
            <div className="flex flex-wrap justify-center gap-2">
              <Button variant="secondary" onClick={() => void discard()}>
                {t("common.delete")}
              </Button>
              <Button onClick={() => setAccepted(true)}>{t("share.siteShow")}</Button>
            </div>
          }
        />
      ) : (
        share && <ShareForm key={String(share.isTextSent)} share={share} me={me} onSentElsewhere={reopen} />
      )}
    </Screen>
  );
}
