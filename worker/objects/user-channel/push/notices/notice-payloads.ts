import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Uuid } from "#contract/ids.ts";
import type { PushPayload } from "#contract/push.ts";
import { productName, toInvitationText, toRequestText, toSecurityText } from "#worker/lib/push/texts.ts";
import type { PushSubscription } from "#worker/objects/user-channel/push/subscription-table.ts";

export type NoticeTimes = Pick<PushPayload["data"], "sentAt" | "isAlerting">;

/** Content of the push of a contact request or an invitation to a group. `name`: of the person, if it may be shown. */
export const createRequestPayload = (
  user: Uuid,
  { kind, name }: { kind: "request" | "invitation"; name: string | undefined },
  { language, origin }: PushSubscription,
  tag: string,
  times: NoticeTimes,
): PushPayload => ({
  web_push: 8030,
  notification: {
    title: name || productName,
    body: kind === "request" ? toRequestText(language) : toInvitationText(language, !!name),
    navigate: `${origin}/app/senga`,
    tag,
    lang: language,
    dir: "auto",
  },
  mutable: true,
  data: { kind: "request", user, count: 0, ...times },
});

/** Content of the push of a security notice. */
export const createSecurityPayload = (
  user: Uuid,
  event: SecurityNotice["event"],
  { language, origin }: PushSubscription,
  tag: string,
  times: NoticeTimes,
): PushPayload => ({
  web_push: 8030,
  notification: {
    title: productName,
    body: toSecurityText(language, event),
    navigate: `${origin}/app/security`,
    tag,
    lang: language,
    dir: "auto",
  },
  mutable: true,
  data: { kind: "security", user, count: 0, ...times },
});
