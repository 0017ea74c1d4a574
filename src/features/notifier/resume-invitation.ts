import * as v from "valibot";
import { showToast } from "#components/overlays/toast.tsx";
import { isPermanentError } from "#contract/errors.ts";
import { invitationCookie } from "#contract/names/invitation.ts";
import { Relation } from "#contract/people.ts";
import { t } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { changeRelation } from "#sync/actions/contacts.ts";

const cookiePattern = new RegExp(`(?:^|; )${invitationCookie}=([\\w-]{22})(?:;|$)`);

const clockToleranceMs = 3_000; // of the estimated server time

const deleteCookie = (): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox and older browsers
  document.cookie = `${invitationCookie}=; Path=/; Max-Age=0; Secure; SameSite=Lax`;
};

/**
 * Accepts the invitation that a visitor chose before signing up or in, and opens the chat with its sender. The sender
 * is led to the screen with the own link. Without a network it is tried again once there is one, or at the next start.
 */
export const resumeInvitation = async (openScreen: (path: string) => void): Promise<void> => {
  const token = cookiePattern.exec(document.cookie)?.[1];
  if (token === undefined) return;
  const startedAt = getServerNow();
  try {
    const relation = v.parse(Relation, await requestApi("POST", "/api/invitations/accept", { token }));
    deleteCookie();
    const { id, username } = relation.profile;
    await changeRelation(
      id,
      async () => relation,
      ({ state }) => state === "contact",
    );
    openScreen(`/app/chat/${id}`);
    // Contacts who open the link again learn nothing new.
    if (relation.since > startedAt - clockToleranceMs)
      showToast({ message: t("invite.accepted", { name: isolateBidi(username || t("common.user")) }) });
  } catch (error) {
    if (!(error instanceof ApiRequestError) || error.code === "offline" || !isPermanentError(error.code)) {
      addEventListener("online", () => void resumeInvitation(openScreen), { once: true });
      return;
    }
    deleteCookie();
    if (error.code === "request_to_self") {
      openScreen("/app/senga/invite");
      showToast({ message: t("invite.own") });
      return;
    }
    showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
  }
};
