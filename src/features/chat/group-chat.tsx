import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { RedirectWithNotice } from "#components/layout/redirect-with-notice.tsx";
import { useLastDefined } from "#components/layout/use-last-defined.ts";
import { describeTyping } from "#components/messages/member-names.ts";
import { lazyIdleOverlay } from "#components/overlays/lazy-overlay.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { toAvatarPerson } from "#components/people/avatar-text.ts";
import { toMutedText } from "#components/people/mute-texts.ts";
import { hasEnded } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import { loadWithIdleTexts, t as translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { type ChatView, useChat, useTypingMembers } from "#sync/hooks/use-chat.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useGroup } from "#sync/hooks/use-group.ts";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";
import { useTextDraft } from "#sync/hooks/use-unsent.ts";
import { useUnsentContent } from "#sync/hooks/use-unsent-content.ts";
import { ChatLayout } from "./chat-layout.tsx";
import { ChatHeader } from "./header/chat-header.tsx";
import { MentionPicker } from "./mentions/lazy-mention-picker.ts";
import { MentioningText } from "./mentions/mentioning-text.tsx";
import { useUnseenMentions } from "./mentions/unseen-mentions.tsx";
import { MentionContext } from "./message/mention-context.ts";
import { useHasNoUnsentContent } from "./unsent/use-has-no-unsent-content.ts";
import { useEndUnreadMark } from "./use-end-unread-mark.ts";

const GroupChatMenu = lazyIdleOverlay(async () => ({
  default: (await import("./header/chat-menus.tsx")).GroupChatMenu,
}));
const UnsentContentPanel = lazyComponent(() => loadWithIdleTexts(() => import("./unsent/unsent-content.tsx")));

/** Whether the newest message says that this person left the group, not that somebody removed them. */
const hasLeftByThemselves = (chat: ChatView | undefined): boolean => {
  const newest = chat?.items.find(({ seq }) => seq !== undefined);
  return newest?.mine === true && newest.body.type === "event" && newest.body.event === "left";
};

/** Answers a press on the call button: groups have no calls yet (SPEC.md §2). */
const showNoGroupCallsToast = (): void =>
  showToast({ title: translate("common.notAvailableTitle"), message: translate("common.notAvailable") });

/** Group chat. A former member reads the history they had, and sees what they have not sent. */
export function GroupChat({ id }: { id: Uuid }) {
  const { t } = useTranslation();
  const conversation = useConversation(id);
  useEndUnreadMark(id, conversation?.marked);
  const chat = useChat(id);
  const draft = useTextDraft(id);
  const unsent = useUnsentContent(id);
  const [group, reloadGroup] = useGroup(id);
  const card = conversation?.group ?? undefined;
  const lastName = useLastDefined(card?.name);
  const name = lastName ?? t("groups.chat.isGroup");
  const ownNumber = card?.number;
  const typists = useTypingMembers(id);
  const profiles = useMemberProfiles(id, typists);
  const typingText = ownNumber === undefined ? undefined : describeTyping({ ownNumber, profiles }, typists, t);
  const mentions = useUnseenMentions(conversation?.mentions, chat?.items);
  const mentionContext = useMemo(() => ({ conversation: id, ownNumber, Text: MentioningText }), [id, ownNumber]);
  const isGone = conversation?.gone ?? false;
  const hasLeft = conversation !== undefined && hasEnded(conversation);
  const hasUnsentMedia = unsent && unsent.files.length + unsent.recordings.length > 0;
  const hasUnsent = hasUnsentMedia || (draft ?? "") !== "" || chat?.items.some(({ seq }) => seq === undefined);
  const seemsEmpty = isGone && chat?.items.length === 0 && draft === "" && hasUnsentMedia === false;
  const isEmpty = useHasNoUnsentContent(id, seemsEmpty);
  const membersPath = `/app/group/${id}/members`;

  const leftNotice = (
    <RedirectWithNotice message={t("groups.chat.left", { name: isolateBidi(name) })} isError={false} />
  );
  if (group.state === "missing") {
    return lastName === undefined ? <RedirectWithNotice message={t("errors.group_not_found")} isError /> : leftNotice;
  }
  // A former member keeps access to an unsent draft, files or recording.
  if (isEmpty) return leftNotice;
  const loadError = group.state === "failed" && (
    <EmptyState
      icon="i-ph-cloud-slash"
      title={t("groups.chat.infoFailed")}
      body={t(`errors.${group.code}`)}
      action={
        <Button variant="secondary" onClick={reloadGroup}>
          {t("common.retry")}
        </Button>
      }
    />
  );
  return (
    <MentionContext value={mentionContext}>
      <ChatLayout
        conversation={id}
        chat={chat}
        name={name}
        ownNumber={ownNumber}
        mentions={mentions}
        MentionPicker={MentionPicker}
        isSynced={group.state === "here" || group.state === "failed" || hasLeft}
        canWrite={conversation?.isStored && !isGone ? conversation.open : undefined}
        participation={hasLeft ? "left" : "member"}
        typingText={typingText}
        header={
          <ChatHeader
            profilePath={hasLeft ? undefined : membersPath}
            person={group.state === "loading" ? undefined : toAvatarPerson(card ?? { name, picture: null }, id)}
            name={name}
            mutedText={conversation?.muted ? toMutedText(conversation, t) : undefined}
            typingText={typingText}
            subtitle={card && !hasLeft && t("groups.chat.members", { count: card.count })}
          />
        }
        callButtons={
          !hasLeft && <IconButton icon="i-ph-phone" label={t("groups.chat.call")} onClick={showNoGroupCallsToast} />
        }
        callMenuItems={
          hasLeft
            ? []
            : [
                {
                  id: "call",
                  label: t("groups.chat.call"),
                  icon: "i-ph-phone",
                  onSelect: showNoGroupCallsToast,
                },
              ]
        }
        renderMenu={(menu) => (
          <GroupChatMenu
            {...menu}
            conversation={id}
            name={name}
            view={conversation}
            membersPath={membersPath}
            hasLeft={hasLeft}
          />
        )}
        emptyState={loadError || (isGone ? null : undefined)}
        composerReplacement={
          hasLeft &&
          !seemsEmpty && (
            <UnsentContentPanel
              conversation={id}
              draft={draft ?? ""}
              unsent={unsent}
              reason={t(
                isGone || hasUnsent
                  ? "groups.chat.leftNote"
                  : hasLeftByThemselves(chat)
                    ? "groups.chat.youLeft"
                    : "groups.chat.notMember",
              )}
            />
          )
        }
      />
    </MentionContext>
  );
}
