import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { IconButton } from "#components/controls/icon-button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { late } from "#components/layout/lazy-component.tsx";
import { LedAway } from "#components/layout/redirect-with-notice.tsx";
import { describeTyping } from "#components/messages/member-names.ts";
import { sayNotYet } from "#components/overlays/not-implemented-toast.ts";
import { groupAsPerson } from "#components/people/avatar.tsx";
import type { Uuid } from "#contract/ids.ts";
import { isolate } from "#lib/text/bidi.ts";
import { useGroup } from "#sync/hooks/use-group.ts";
import { useAuthors, useChat, useConversation, useDraft, useLeftOver, useTyping } from "#sync/hooks/use-live-query.ts";
import { ChatFrame } from "./chat-layout.tsx";
import { ChatHeading } from "./header/chat-header.tsx";
import { useChatDeeds } from "./header/use-chat-menu.tsx";
import { useBare } from "./unsent/use-has-no-unsent-content.ts";

const LeftNote = late(() => import("./unsent/unsent-content.tsx"));

/** A chat of several: who is in it, and what is left of it for somebody who is no member any more. */
export function GroupChat({ id }: { id: Uuid }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const conversation = useConversation(id);
  const chat = useChat(id);
  const draft = useDraft(id);
  const leftOver = useLeftOver(id);
  const [look, again] = useGroup(id);
  const card = conversation?.group ?? undefined;
  const lastName = useRef<string>(undefined);
  if (card) lastName.current = card.name;
  const name = lastName.current ?? t("groups.chat.isGroup");
  const own = card?.number;
  const typists = useTyping(id);
  const authors = useAuthors(id, typists);
  const typing = own === undefined ? undefined : describeTyping({ own, authors }, typists, t);
  const deeds = useChatDeeds(id, name, conversation);
  const isGone = conversation?.gone ?? false;
  const hasLeftOver = leftOver && (leftOver.files.length > 0 || leftOver.recorded !== undefined);
  const seemsBare = isGone && chat?.items.length === 0 && draft === "" && hasLeftOver === false;
  const isBare = useBare(id, seemsBare);
  const membersPath = `/app/group/${id}/members`;

  const left = <LedAway message={t("groups.chat.left", { name: isolate(name) })} isError={false} />;
  if (look.state === "missing") {
    return lastName.current === undefined ? <LedAway message={t("errors.group_not_found")} isError /> : left;
  }
  // What was written, chosen or recorded there and not sent can still be had.
  if (isBare) return left;
  const empty = look.state === "failed" && (
    <EmptyState
      icon="i-ph-cloud-slash"
      title={t("groups.chat.infoFailed")}
      body={t(`errors.${look.code}`)}
      action={
        <Button look="secondary" onClick={again}>
          {t("common.retry")}
        </Button>
      }
    />
  );
  return (
    <ChatFrame
      conversation={id}
      chat={chat}
      name={name}
      own={own}
      isHeardOf={look.state === "here" || look.state === "failed" || isGone}
      mayWrite={conversation?.known && !isGone ? conversation.open : undefined}
      standing={isGone ? "left" : "member"}
      typing={typing}
      heading={
        <ChatHeading
          path={isGone ? undefined : membersPath}
          person={look.state === "loading" ? undefined : groupAsPerson(card ?? { name, picture: null })}
          name={name}
          isMuted={conversation?.muted ?? false}
          typing={typing}
          line={card && !isGone && t("groups.chat.members", { count: card.count })}
        />
      }
      calls={!isGone && <IconButton icon="i-ph-phone" label={t("groups.chat.call")} onClick={() => sayNotYet()} />}
      callItems={
        isGone ? [] : [{ id: "call", label: t("groups.chat.call"), icon: "i-ph-phone", onSelect: () => sayNotYet() }]
      }
      first={
        isGone
          ? undefined
          : {
              id: "members",
              label: t("groups.chat.viewMembers"),
              icon: "i-ph-users-three",
              onSelect: () => navigate(membersPath),
            }
      }
      deeds={deeds.items}
      empty={empty || (isGone ? null : undefined)}
      bottom={
        isGone &&
        !seemsBare && (
          <LeftNote conversation={id} draft={draft ?? ""} leftOver={leftOver} text={t("groups.chat.leftNote")} />
        )
      }
      dialog={deeds.dialog}
    />
  );
}
