import * as v from "valibot";
import { showToast } from "#components/overlays/toast.tsx";
import { isPermanentError } from "#contract/errors.ts";
import { invitationCookie } from "#contract/names/invitation.ts";
import { toKeptLinkPath } from "#contract/names/kept-link.ts";
import { Relation } from "#contract/people.ts";
import { shareTargetPath, toSharePath } from "#contract/wire/share-target.ts";
import { loadWithTexts, t } from "#i18n/setup.ts";
import { shareCacheName } from "#lib/browser/share/share-cache.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";
import { findKeptLink } from "#lib/session/kept-link.ts";
import { getSession } from "#lib/session/session.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { changeRelation } from "#sync/actions/contacts.ts";

const invitationCookiePattern = new RegExp(`(?:^|; )${invitationCookie}=([\\w-]{22})(?:;|$)`);

const clockToleranceMs = 3_000; // of the estimated server time

const deleteInvitationCookie = (): void => {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox and older browsers
  document.cookie = `${invitationCookie}=; Path=/; Max-Age=0; Secure; SameSite=Lax`;
};

/**
 * Accepts the invitation that a visitor chose before signing up or in, and opens the chat with its sender. The sender
 * is led to the screen with the own link. Without a network it is tried again once there is one, or at the next start.
 */
export const resumeInvitation = async (openScreen: (path: string) => void): Promise<void> => {
  const token = invitationCookiePattern.exec(document.cookie)?.[1];
  if (token === undefined) return;
  const startedAt = getServerNow();
  try {
    const relation = v.parse(Relation, await requestApi("POST", "/api/invitations/accept", { token }));
    deleteInvitationCookie();
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
    deleteInvitationCookie();
    if (error.code === "request_to_self") {
      openScreen("/app/senga/invite");
      showToast({ message: t("invite.own") });
      return;
    }
    showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
  }
};

/** Opens the link that a visitor followed before signing in. Its page forgets it. */
export const resumeLink = (): void => {
  const link = findKeptLink();
  if (link === undefined) return;
  const path = toKeptLinkPath(link);
  if (location.pathname !== path) location.replace(path);
};

/** Opens what another app shared while nobody was signed in. */
export const resumeShare = async (): Promise<void> => {
  if (!("caches" in globalThis) || location.pathname.startsWith(shareTargetPath)) return;
  if (!(await caches.has(shareCacheName))) return;
  const { findUnownedShare } = await loadWithTexts(() => import("#lib/browser/share/stored-share.ts"));
  const { id, wasDropped } = await findUnownedShare(getSession()?.userId, Date.now());
  if (id !== undefined) location.replace(toSharePath(id));
  else if (wasDropped) showToast({ message: t("share.dropped") });
};
