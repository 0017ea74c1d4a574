import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { RedirectWithNotice } from "#components/layout/redirect-with-notice.tsx";
import { describeTyping } from "#components/messages/member-names.ts";
import { showNotImplementedToast } from "#components/overlays/not-implemented-toast.ts";
import { toAvatarPerson } from "#components/people/avatar.tsx";
import type { Uuid } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useGroup } from "#sync/hooks/use-group.ts";
import {
  useChat,
  useConversation,
  useMemberProfiles,
  useTextDraft,
  useTypingMembers,
  useUnsentContent,
} from "#sync/hooks/use-live-query.ts";
import { ChatLayout } from "./chat-layout.tsx";
import { ChatHeader } from "./header/chat-header.tsx";
import { useChatMenu } from "./header/use-chat-menu.tsx";
import { useHasNoUnsentContent } from "./unsent/use-has-no-unsent-content.ts";

const UnsentContentPanel = lazyComponent(() => import("./unsent/unsent-content.tsx"));

/** A chat of several: who is in it, and what is left of it for somebody who is no member any more. */
export function GroupChat({ id }: { id: Uuid }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const conversation = useConversation(id);
  const chat = useChat(id);
  const draft = useTextDraft(id);
  const leftOver = useUnsentContent(id);
  const [look, again] = useGroup(id);
  const card = conversation?.group ?? undefined;
  const lastName = useRef<string>(undefined);
  if (card) lastName.current = card.name;
  const name = lastName.current ?? t("groups.chat.isGroup");
  const own = card?.number;
  const typists = useTypingMembers(id);
  const authors = useMemberProfiles(id, typists);
  const typing = own === undefined ? undefined : describeTyping({ ownNumber: own, authors }, typists, t);
  const deeds = useChatMenu(id, name, conversation);
  const isGone = conversation?.gone ?? false;
  const hasLeftOver = leftOver && (leftOver.files.length > 0 || leftOver.recorded !== undefined);
  const seemsBare = isGone && chat?.items.length === 0 && draft === "" && hasLeftOver === false;
  const isBare = useHasNoUnsentContent(id, seemsBare);
  const membersPath = `/app/group/${id}/members`;

  const left = <RedirectWithNotice message={t("groups.chat.left", { name: isolateBidi(name) })} isError={false} />;
  if (look.state === "missing") {
    return lastName.current === undefined ? <RedirectWithNotice message={t("errors.group_not_found")} isError /> : left;
  }
  // What was written, chosen or recorded there and not sent can still be had.
  if (isBare) return left;
  const empty = look.state === "failed" && (
    <EmptyState
      icon="i-ph-cloud-slash"
      title={t("groups.chat.infoFailed")}
      body={t(`errors.${look.code}`)}
      action={
        <Button variant="secondary" onClick={again}>
          {t("common.retry")}
        </Button>
      }
    />
  );
  return (
    <ChatLayout
      conversation={id}
      chat={chat}
      name={name}
      ownNumber={own}
      isSynced={look.state === "here" || look.state === "failed" || isGone}
      canWrite={conversation?.isStored && !isGone ? conversation.open : undefined}
      participation={isGone ? "left" : "member"}
      typingText={typing}
      header={
        <ChatHeader
          profilePath={isGone ? undefined : membersPath}
          person={look.state === "loading" ? undefined : toAvatarPerson(card ?? { name, picture: null })}
          name={name}
          isMuted={conversation?.muted ?? false}
          typingText={typing}
          subtitle={card && !isGone && t("groups.chat.members", { count: card.count })}
        />
      }
      callButtons={
        !isGone && (
          <IconButton icon="i-ph-phone" label={t("groups.chat.call")} onClick={() => showNotImplementedToast()} />
        )
      }
      callMenuItems={
        isGone
          ? []
          : [
              {
                id: "call",
                label: t("groups.chat.call"),
                icon: "i-ph-phone",
                onSelect: () => showNotImplementedToast(),
              },
            ]
      }
      firstMenuItem={
        isGone
          ? undefined
          : {
              id: "members",
              label: t("groups.chat.viewMembers"),
              icon: "i-ph-users-three",
              onSelect: () => navigate(membersPath),
            }
      }
      menuItems={deeds.items}
      emptyState={empty || (isGone ? null : undefined)}
      composerReplacement={
        isGone &&
        !seemsBare && (
          <UnsentContentPanel
            conversation={id}
            draft={draft ?? ""}
            unsent={leftOver}
            reason={t("groups.chat.leftNote")}
          />
        )
      }
      dialog={deeds.dialog}
    />
  );
}
