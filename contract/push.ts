import * as v from "valibot";
import { ConversationId, Uuid } from "./ids.ts";
import { languages } from "./language.ts";
import { pushEndpointMaxLength } from "./limits/push.ts";

/** Web Push (RFC 8030): subscriptions of devices, and the content of a push. */

/** Path of the client's page with notification settings, opened by a test notification. */
export const notificationSettingsPath = "/app/notifications";

/** IP address as the host of a URL. The URL parser writes every form of an IPv4 address with dots. */
const ipAddress = /^(\[.*\]|[\d.]+)$/;

/**
 * Whether a text is a URL that may belong to a push service: https, on the default port, with a host name, without
 * credentials or fragment. The server also compares the host with its list of push services.
 */
export const isPushEndpoint = (text: string): boolean => {
  if (!/^https:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, port, username, password, hash } = new URL(text);
  const hasPlainHost = hostname.includes(".") && !hostname.endsWith(".") && !ipAddress.test(hostname);
  return protocol === "https:" && hasPlainHost && port === "" && username === "" && password === "" && hash === "";
};

/** Uncompressed point of the curve P-256, 65 bytes beginning with 4, in base64url. */
const PublicKeyPoint = v.pipe(v.string(), v.regex(/^B[A-P][A-Za-z0-9_-]{84}[AEIMQUYcgkosw048]$/));

/** 16 bytes in base64url. */
const AuthSecret = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{21}[AQgw]$/));

/**
 * Push subscription of this session's device, which replaces its previous one. `p256dh` and `auth` are the device's
 * keys (RFC 8291), `key` is the server's key that the subscription was made with, `language` that of the notifications.
 */
export const PushSubscriptionBody = v.strictObject({
  endpoint: v.pipe(
    v.string("push_endpoint_refused"),
    v.maxLength(pushEndpointMaxLength, "push_endpoint_refused"),
    v.check(isPushEndpoint, "push_endpoint_refused"),
  ),
  p256dh: PublicKeyPoint,
  auth: AuthSecret,
  key: PublicKeyPoint,
  language: v.picklist(languages),
});
export type PushSubscriptionBody = v.InferOutput<typeof PushSubscriptionBody>;

/** Server's public key (VAPID, RFC 8292), which a device passes to `PushManager.subscribe`. */
export const PushKey = v.object({ key: PublicKeyPoint });
export type PushKey = v.InferOutput<typeof PushKey>;

/** Outcome of a test push: accepted by the push service, unknown to it, or not accepted. */
export const PushTestResult = v.object({ status: v.picklist(["sent", "gone", "failed"]) });
export type PushTestResult = v.InferOutput<typeof PushTestResult>;

/** Tag of the notification of a conversation. A newer notification replaces the one with the same tag. */
export const toConversationTag = (conversation: ConversationId): string => `c:${conversation}`;

/** Tag of the notification of reactions in a conversation, beside that of its messages. */
export const toReactionTag = (conversation: ConversationId): string => `reaction:${conversation}`;

/** Fragment of a chat's URL that opens the chat at a message. */
export const toMessageFragment = (seq: number): string => `#m${seq}`;

/** Seq in such a fragment, undefined if it is another one. */
export const findFragmentSeq = (fragment: string): number | undefined => {
  const [, seq] = /^#m(\d{1,15})$/.exec(fragment) ?? [];
  return seq === undefined ? undefined : Number(seq);
};

/** Tag of the notification of a ringing call, the same for all calls of a conversation. */
export const toCallTag = (conversation: ConversationId): string => `call:${conversation}`;

/** Tag of the notification of a person's contact request, of an invitation to a group, and of a security notice. */
export const toRequestTag = (person: Uuid): string => `request:${person}`;
export const toInvitationTag = (invitation: Uuid): string => `invitation:${invitation}`;
export const toSecurityTag = (notice: Uuid): string => `security:${notice}`;

export const testNotificationTag = "test";
export const summaryNotificationTag = "summary";

/**
 * What a push is about: new messages; a summary of those of quiet hours; a ringing call; messages of which the newest
 * is a call that rang on this device and was missed; a call that rang on this device and needs no answer any more;
 * reactions to the person's own messages; a contact request or an invitation to a group; a security notice; a test.
 */
const PushKind = v.picklist([
  "message",
  "summary",
  "call",
  "missed_call",
  "call_ended",
  "reaction",
  "request",
  "security",
  "test",
]);

/**
 * Content of a push, which is also a valid Declarative Web Push message (W3C Push API): a browser that knows these
 * shows the notification if the service worker does not.
 */
export const PushPayload = v.object({
  web_push: v.literal(8030),
  notification: v.object({
    title: v.string(),
    body: v.string(),
    navigate: v.string(), // absolute URL
    tag: v.string(),
    lang: v.picklist(languages),
    dir: v.literal("auto"),
  }),
  mutable: v.literal(true),
  data: v.object({
    kind: PushKind,
    user: Uuid, // recipient
    conversation: v.optional(ConversationId),
    count: v.number(), // unread messages in the conversation
    head: v.optional(v.number()), // seq of its newest message
    sentAt: v.number(), // server time, epoch milliseconds
    isNameHidden: v.optional(v.literal(true)), // the person's settings hide whose messages these are
    isAlerting: v.boolean(), // whether a replaced notification makes itself heard again
    call: v.optional(Uuid), // id of the call of a kind about calls, or that is the newest message
    expiresAt: v.optional(v.number()), // end of the ring, server time, epoch milliseconds
    missedText: v.optional(v.string()), // body of the notification of a ring that is over
    endedText: v.optional(v.string()), // the same if the call was answered or declined
    // whether what it announced was read or answered elsewhere: the device closes it after some seconds
    isHandled: v.optional(v.literal(true)),
    replaces: v.optional(v.array(v.string())), // tags of other notifications that this one takes the place of
  }),
});
export type PushPayload = v.InferOutput<typeof PushPayload>;
