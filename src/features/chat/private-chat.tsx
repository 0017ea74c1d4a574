import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { CallBanner } from "#calls/ui/call-banner.tsx";
import { CallButtons, useCallStart } from "#calls/ui/call-buttons.tsx";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { showBlockedCallToast } from "#components/people/blocked-call-toast.ts";
import { toDisplayName } from "#components/people/person-name.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { useChat, useConversation, usePerson, useTypingMembers } from "#sync/hooks/use-live-query.ts";
import { usePresence } from "#sync/hooks/use-presence.ts";
import { useProfile } from "#sync/hooks/use-profile.ts";
import { ChatLayout } from "./chat-layout.tsx";
import { BlockedNotice } from "./composer/blocked-notice.tsx";
import { DeletedAccountNotice } from "./composer/deleted-notice.tsx";
import { NotConnectedNotice } from "./composer/not-connected-notice.tsx";
import { ChatHeader } from "./header/chat-header.tsx";
import { hasVisiblePresence, PresenceLine } from "./header/presence-line.tsx";
import { useChatMenu } from "./header/use-chat-menu.tsx";
import { useContactMenu } from "./header/use-contact-menu.tsx";

type PrivateChatProps = { me: Uuid; userId: Uuid; notFound: ReactNode };

/** A chat with one person: who they are, whether the two may write to each other, and what can be done about them. */
export function PrivateChat({ me, userId, notFound }: PrivateChatProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const id = privateConversationId(me, userId);
  const conversation = useConversation(id);
  const chat = useChat(id);
  const known = usePerson(userId);
  const [look, lookAgain] = useProfile(userId);
  const isTyping = useTypingMembers(id).length > 0;

  const person = look.state === "found" ? look.person : undefined;
  const name = toDisplayName(person, t);
  const isDeleted = person?.deleted === 1;
  // Before the first words of the server this phone cannot tell whether they are connected.
  const isTold = (conversation?.isConfirmed ?? false) || look.state === "missing";
  // A profile that could not be loaded says nothing about the connection.
  const failure = look.state === "failed" ? look.code : undefined;
  const isOffline = useIsOffline();
  const [wasOpen, setWasOpen] = useState<boolean>();
  const isOpen = conversation?.open;
  if (isTold && wasOpen !== isOpen) setWasOpen(isOpen);
  // Keep the last known state after the local store was lost. If the profile cannot be loaded, do not claim that the two
  // are not connected.
  const mayBeOpen = failure !== undefined ? wasOpen || undefined : isTold ? isOpen : wasOpen;
  const isHeardOf = isTold || (wasOpen !== undefined && !isOffline) || failure !== undefined;
  const isBlocked = conversation?.blocked ?? false;
  const mayWrite = isDeleted ? false : isBlocked ? undefined : mayBeOpen;
  const presence = usePresence(mayWrite ? id : undefined);
  const profilePath = `/app/user/${userId}`;
  const deeds = useChatMenu(id, name, conversation);
  const personDeeds = useContactMenu({ userId, name, isBlocked, isContact: known?.state === "contact" });
  const refuseStranger = () =>
    showToast({ tone: "danger", title: t("people.notConnectedTitle"), message: t("people.notConnected") });
  const refuseDeleted = () => showToast({ title: t("common.deletedAccount"), message: t("chat.accountDeleted") });
  /** In the place of a call, where there can be none. */
  const refuse = isDeleted
    ? refuseDeleted
    : isBlocked
      ? () => showBlockedCallToast(name)
      : mayWrite === false
        ? refuseStranger
        : undefined;
  const calls = useCallStart(userId, name);
  const isShownTyping = isTyping && !isBlocked;

  if (look.state === "missing" && !chat?.items.length) return notFound;
  return (
    <ChatLayout
      conversation={id}
      chat={chat}
      name={name}
      isSynced={isHeardOf}
      canWrite={mayWrite}
      participation={isDeleted ? "alone" : "private"}
      typingText={isShownTyping ? t("chat.isTyping", { name: isolateBidi(name) }) : undefined}
      emptyState={
        failure && (
          <EmptyState
            icon="i-ph-cloud-slash"
            title={t("chat.contactFailed")}
            body={t(`errors.${failure}`)}
            action={<Button onClick={lookAgain}>{t("common.retry")}</Button>}
          />
        )
      }
      header={
        <ChatHeader
          profilePath={profilePath}
          person={person}
          name={name}
          isMuted={conversation?.muted ?? false}
          typingText={isShownTyping ? t("chat.typing") : undefined}
          subtitle={hasVisiblePresence(presence) ? <PresenceLine presence={presence} /> : undefined}
        />
      }
      callButtons={!isDeleted && <CallButtons peer={userId} name={name} refuse={refuse} />}
      callMenuItems={isDeleted ? [] : calls.menuItems(refuse)}
      callBack={refuse ?? calls.start}
      callBanner={<CallBanner peer={userId} />}
      firstMenuItem={{
        id: "contact",
        label: t("chat.viewContact"),
        icon: "i-ph-user-circle",
        onSelect: () => navigate(profilePath),
      }}
      menuItems={isDeleted ? deeds.items : [...deeds.items, ...personDeeds.items]}
      composerReplacement={
        isDeleted ? (
          <DeletedAccountNotice conversation={id} />
        ) : isBlocked ? (
          <BlockedNotice name={name} onUnblock={personDeeds.unblock} />
        ) : (
          mayWrite === false && <NotConnectedNotice userId={userId} />
        )
      }
      dialog={
        <>
          {deeds.dialog}
          {personDeeds.dialog}
          {calls.dialog}
        </>
      }
    />
  );
}
