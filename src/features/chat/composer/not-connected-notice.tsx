import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { Uuid } from "#contract/ids.ts";
import { usePerson } from "#sync/hooks/use-live-query.ts";
import { ComposerNotice } from "./composer-notice.tsx";

const actionLook = "inline-flex min-h-12 items-center gap-2 rounded-card px-3 font-semibold";

/** Next step towards a connection: find people, answer the received request, or wait for the sent one. */
function ConnectAction({ state }: { state: string | undefined }) {
  const { t } = useTranslation();
  if (state === "sent") {
    return (
      <button type="button" disabled className={`${actionLook} text-muted`}>
        <span className="i-ph-paper-plane-tilt text-xl" aria-hidden="true" />
        {t("senga.requestSent")}
      </button>
    );
  }
  const isReceived = state === "received";
  return (
    <Link to="/app/senga" className={`${actionLook} text-accent hover:bg-raised`}>
      <span className={`${isReceived ? "i-ph-user-check" : "i-ph-user-plus"} text-xl`} aria-hidden="true" />
      {t(isReceived ? "chat.acceptRequest" : "chat.findPeople")}
    </Link>
  );
}

/** Replaces the composer when the two users are not connected. */
export function NotConnectedNotice({ userId }: { userId: Uuid }) {
  const { t } = useTranslation();
  return (
    <ComposerNotice text={t("chat.mustBeConnected")}>
      <ConnectAction state={usePerson(userId)?.state} />
    </ComposerNotice>
  );
}
