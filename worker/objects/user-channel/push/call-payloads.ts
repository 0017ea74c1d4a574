import type { Call } from "#contract/calls/call.ts";
import { otherMember, type Uuid } from "#contract/ids.ts";
import { type PushPayload, toCallTag } from "#contract/push.ts";
import {
  type CallEnding,
  productName,
  toCallEndedText,
  toIncomingCallText,
  toMissedCallText,
} from "#worker/lib/push/texts.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import { createMessagePayload, type Recipient } from "./payloads.ts";
import type { PushSubscription } from "./subscription-table.ts";

type PushedCall = Pick<Call, "call_id" | "conversation" | "type">;
type RingTimes = { sentAt: number; expiresAt: number; isAlerting: boolean };

/** Notification about a call, whose title is the other person unless the settings hide names. */
const createNotification = (
  { user, settings, findName }: Recipient,
  { conversation }: PushedCall,
  { language, origin }: PushSubscription,
  body: string,
): PushPayload["notification"] => {
  const other = otherMember(conversation, user);
  const isNameShown = other !== undefined && settings.messages.preview !== "nothing";
  return {
    title: (isNameShown && findName(other)) || productName,
    body,
    navigate: `${origin}/app/chat/${other}`,
    tag: toCallTag(conversation),
    lang: language,
    dir: "auto",
  };
};

/** Content of the push of a ringing call. */
export const createCallPayload = (
  recipient: Recipient,
  call: PushedCall,
  device: PushSubscription,
  times: RingTimes,
): PushPayload => ({
  web_push: 8030,
  notification: createNotification(recipient, call, device, toIncomingCallText(device.language, call.type)),
  mutable: true,
  data: {
    kind: "call",
    user: recipient.user,
    conversation: call.conversation,
    call: call.call_id,
    count: 0,
    missedText: toMissedCallText(device.language, call.type),
    endedText: toCallEndedText(device.language, "ended"),
    ...times,
  },
});

/** Content of the push that silently replaces a ring. */
export const createCallEndedPayload = (
  recipient: Recipient,
  call: PushedCall,
  device: PushSubscription,
  ending: CallEnding,
): PushPayload => ({
  web_push: 8030,
  notification: createNotification(recipient, call, device, toCallEndedText(device.language, ending)),
  mutable: true,
  data: {
    kind: "call_ended",
    user: recipient.user,
    conversation: call.conversation,
    call: call.call_id,
    count: 0,
    sentAt: Date.now(),
    isAlerting: false,
  },
});

/**
 * Content of the push of a conversation's unread messages after a call that rang on the device was missed.
 * `isConnected`: the device closes the ring itself, so it could not know that this notification replaces a ring.
 */
export const createMissedCallPayload = (
  recipient: Recipient,
  entry: InboxEntry,
  { id, isConnected, replaces }: { id: Uuid; isConnected: boolean; replaces: string[] },
  device: PushSubscription,
): PushPayload => {
  const times = { sentAt: Date.now(), isAlerting: recipient.settings.calls.sound && !isConnected, replaces };
  const { data, ...rest } = createMessagePayload(recipient, entry, undefined, device, times);
  return { ...rest, data: { ...data, kind: "missed_call", call: id } };
};
