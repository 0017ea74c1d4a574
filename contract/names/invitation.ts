import * as v from "valibot";

/** Invitation: a link that connects its sender with whoever accepts it (docs/decisions/invitations.md). */

export const invitationDays = 30;
/** People whom one link can connect. */
export const invitationUsesMax = 20;

const tokenPattern = /^[\w-]{22}$/; // 128 bits in base64url
const InvitationToken = v.pipe(v.string(), v.regex(tokenPattern));

/** One's own invitation; null while there is none, or if it expired or was used up. */
export const OwnInvitation = v.object({
  invitation: v.nullable(v.object({ url: v.string(), expires_at: v.number(), uses_left: v.number() })),
});
export type OwnInvitation = v.InferOutput<typeof OwnInvitation>;

export const InvitationAcceptance = v.strictObject({ token: InvitationToken });

const invitationPath = "/i/";
export const toInvitationPath = (token: string): string => invitationPath + token;

/** Pages to which a visitor continues from an invitation. */
export const invitationSteps = ["register", "login"] as const;
type InvitationStep = (typeof invitationSteps)[number];

/** Token of a path of an invitation, and the page chosen on it. Undefined for other paths and malformed tokens. */
export const parseInvitationPath = (path: string): { token: string; step?: InvitationStep } | undefined => {
  const [token = "", name, ...rest] = path.startsWith(invitationPath)
    ? path.slice(invitationPath.length).split("/")
    : [];
  if (!v.is(InvitationToken, token) || rest.length > 0) return undefined;
  if (name === undefined) return { token };
  const step = invitationSteps.find((known) => known === name);
  return step && { token, step };
};

/** Cookie of a visitor who chose to accept an invitation, until the app has accepted it after sign-up or sign-in. */
export const invitationCookie = "lisolo-invitation";
export const invitationCookieSeconds = 24 * 3_600;
