import * as v from "valibot";
import { showToast } from "#components/overlays/toast.tsx";
import { isPermanentError } from "#contract/errors.ts";
import { invitationCookie } from "#contract/names/invitation.ts";
import { Relation } from "#contract/people.ts";
import { t } from "#i18n/setup.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { changeRelation } from "#sync/actions.ts";

const cookiePattern = new RegExp(`(?:^|; )${invitationCookie}=([\\w-]{22})(?:;|$)`);

const deleteCookie = (): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox and older browsers
  document.cookie = `${invitationCookie}=; Path=/; Max-Age=0; Secure; SameSite=Lax`;
};

/**
 * Accepts the invitation that a visitor chose before signing up or in, and opens the chat with its sender. Without a
 * network it is tried again once there is one, or at the next start.
 */
export const resumeInvitation = async (openChat: (path: string) => void): Promise<void> => {
  const token = cookiePattern.exec(document.cookie)?.[1];
  if (token === undefined) return;
  try {
    const relation = v.parse(Relation, await requestApi("POST", "/api/invitations/accept", { token }));
    deleteCookie();
    const { id, username } = relation.profile;
    await changeRelation(
      id,
      async () => relation,
      ({ state }) => state === "contact",
    );
    openChat(`/app/chat/${id}`);
    showToast({ message: t("invite.accepted", { name: isolateBidi(username || t("common.user")) }) });
  } catch (error) {
    if (!(error instanceof ApiRequestError) || error.code === "offline" || !isPermanentError(error.code)) {
      addEventListener("online", () => void resumeInvitation(openChat), { once: true });
      return;
    }
    deleteCookie();
    if (error.code === "request_to_self") return; // somebody tries their own link
    showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
  }
};
