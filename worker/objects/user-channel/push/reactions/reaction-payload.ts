import { otherMember } from "#contract/ids.ts";
import { type PushPayload, toMessageFragment, toReactionTag } from "#contract/push.ts";
import { type AnnouncedReactions, toHiddenReactionText, toReactionText } from "#worker/lib/push/reaction-texts.ts";
import { productName } from "#worker/lib/push/texts.ts";
import type { InboxEntry } from "#worker/objects/user-channel/inbox/inbox-merge.ts";
import { getPreviewLevel, type Recipient } from "#worker/objects/user-channel/push/payloads.ts";
import type { PushSubscription } from "#worker/objects/user-channel/push/subscription-table.ts";

/**
 * Content of the push of reactions to the recipient's messages in a conversation, as the person's settings allow it to
 * be shown. `seq`: message of the newest one, at which the chat opens. It counts nothing and makes no sound.
 */
export const createReactionPayload = (
  { user, settings, findName }: Recipient,
  entry: InboxEntry,
  reactions: AnnouncedReactions & { seq: number },
  { language, origin }: PushSubscription,
): PushPayload => {
  const { conversation, group } = entry;
  const other = otherMember(conversation, user);
  const level = getPreviewLevel(settings, entry);
  const name = level === "nothing" ? undefined : other === undefined ? group?.name : findName(other);
  const path = other === undefined ? `/app/group/${conversation}` : `/app/chat/${other}`;
  return {
    web_push: 8030,
    notification: {
      title: name || productName,
      body: level === "text" ? toReactionText(language, reactions) : toHiddenReactionText(language, reactions),
      navigate: origin + path + toMessageFragment(reactions.seq),
      tag: toReactionTag(conversation),
      lang: language,
      dir: "auto",
    },
    mutable: true,
    // Without the conversation: reading its messages neither closes nor counts the notification.
    data: { kind: "reaction", user, count: 0, sentAt: Date.now(), isAlerting: false },
  };
};
