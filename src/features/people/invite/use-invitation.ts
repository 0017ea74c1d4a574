import { useState } from "react";
import { useTranslation } from "react-i18next";
import { announceResult, showToast } from "#components/overlays/toast.tsx";
import { OwnInvitation } from "#contract/names/invitation.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";

const parseOwnInvitation = (body: unknown): OwnInvitation => parseResponse(OwnInvitation, body);

/** Own invitation, with commands to create and revoke it. */
export const useInvitation = () => {
  const { t } = useTranslation();
  const [query, retry] = useRemoteQuery("/api/invitation", true, parseOwnInvitation);
  /** Result of the last change, newer than the query. */
  const [changed, setChanged] = useState<OwnInvitation>();
  const [isBusy, setBusy] = useState(false);
  const change = async (method: "POST" | "DELETE"): Promise<OwnInvitation | undefined> => {
    setBusy(true);
    try {
      const own = parseOwnInvitation(await requestApi(method, "/api/invitation"));
      setChanged(own);
      return own;
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return {
    query,
    retry,
    isBusy,
    /** Undefined until it is known. */
    own: changed ?? (query.state === "found" ? query.body : undefined),
    create: () => change("POST"),
    revoke: async () => {
      const own = await change("DELETE");
      if (own) announceResult(t("invite.revoked"));
      return own;
    },
  };
};
export type InvitationState = ReturnType<typeof useInvitation>;
