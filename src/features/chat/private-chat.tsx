import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { CallBanner } from "#calls/ui/call-banner.tsx";
import { CallButtons, useCallStart } from "#calls/ui/call-buttons.tsx";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { lazyIdleOverlay } from "#components/overlays/lazy-overlay.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { showBlockedCallToast } from "#components/people/blocked-call-toast.ts";
import { toMutedText } from "#components/people/mute-texts.ts";
import { toDisplayName } from "#components/people/person-name.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { loadWithIdleTexts } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useChat, useTypingMembers } from "#sync/hooks/use-chat.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { usePerson, useProfile } from "#sync/hooks/use-people.ts";
import { usePresence } from "#sync/hooks/use-presence.ts";
import { ChatLayout } from "./chat-layout.tsx";
import { ChatHeader } from "./header/chat-header.tsx";
import { hasVisiblePresence, PresenceLine } from "./header/presence-line.tsx";
import { useEndUnreadMark } from "./use-end-unread-mark.ts";

const PrivateChatMenu = lazyIdleOverlay(async () => ({
  default: (await import("./header/chat-menus.tsx")).PrivateChatMenu,
}));
const loadNotices = () => loadWithIdleTexts(() => import("./composer/private-chat-notices.tsx"));
const BlockedNotice = lazyComponent(async () => ({ default: (await loadNotices()).BlockedNotice }));
const DeletedAccountNotice = lazyComponent(async () => ({ default: (await loadNotices()).DeletedAccountNotice }));
const NumberNoticeBar = lazyComponent(async () => ({ default: (await loadNotices()).NumberNoticeBar }));
const NotConnectedNotice = lazyComponent(async () => ({ default: (await loadNotices()).NotConnectedNotice }));

type PrivateChatProps = { me: Uuid; userId: Uuid; notFound: ReactNode };

/** Private chat: resolves the peer and whether the two users may write to and call each other. */
export function PrivateChat({ me, userId, notFound }: PrivateChatProps) {
  const { t } = useTranslation();
  const id = privateConversationId(me, userId);
  const conversation = useConversation(id);
  useEndUnreadMark(id, conversation?.marked);
  const chat = useChat(id);
  const personRow = usePerson(userId);
  const [profile, reloadProfile] = useProfile(userId);
  const isTyping = useTypingMembers(id).length > 0;

  const person = profile.state === "found" ? profile.person : undefined;
  const name = toDisplayName(person, t);
  const isDeleted = person?.deleted === 1;
  // Until the server has confirmed the conversation, this device does not know whether the two are connected.
  const isConfirmed = (conversation?.isConfirmed ?? false) || profile.state === "missing";
  // A failed profile request does not reveal whether the two are connected.
  const profileError = profile.state === "failed" ? profile.code : undefined;
  const isOffline = useIsOffline();
  const [wasOpen, setWasOpen] = useState<boolean>();
  const isOpen = conversation?.open;
  if (isConfirmed && wasOpen !== isOpen) setWasOpen(isOpen);
  // Keep the last known state after the local store was lost. If the profile cannot be loaded, do not claim that the
  // two are not connected.
  const isProbablyOpen = profileError !== undefined ? wasOpen || undefined : isConfirmed ? isOpen : wasOpen;
  const isSynced = isConfirmed || (wasOpen !== undefined && !isOffline) || profileError !== undefined;
  const isBlocked = conversation?.blocked ?? false;
  const numberNotice = personRow?.numberNotice;
  const mustConfirm = numberNotice === "left";
  const canWrite = isDeleted || isBlocked || mustConfirm ? false : isProbablyOpen;
  const presence = usePresence(canWrite ? id : undefined);
  const profilePath = `/app/user/${userId}`;
  const showNotConnectedToast = () =>
    showToast({ tone: "danger", title: t("people.notConnectedTitle"), message: t("people.notConnected") });
  const showDeletedToast = () => showToast({ title: t("common.deletedAccount"), message: t("chat.accountDeleted") });
  /** Explains why a call is not possible; undefined if it is. */
  const refuseCall = isDeleted
    ? showDeletedToast
    : isBlocked
      ? () => showBlockedCallToast(name)
      : canWrite === false && !mustConfirm // which the call says itself
        ? showNotConnectedToast
        : undefined;
  const calls = useCallStart(userId, name);
  const showsTyping = isTyping && !isBlocked;

  if (profile.state === "missing" && !chat?.items.length) return notFound;
  return (
    <ChatLayout
      conversation={id}
      chat={chat}
      name={name}
      isSynced={isSynced}
      canWrite={canWrite}
      participation={isDeleted ? "peerDeleted" : "private"}
      typingText={showsTyping ? t("chat.isTyping", { name: isolateBidi(name) }) : undefined}
      emptyState={
        profileError && (
          <EmptyState
            icon="i-ph-cloud-slash"
            title={t("chat.contactFailed")}
            body={t(`errors.${profileError}`)}
            action={<Button onClick={reloadProfile}>{t("common.retry")}</Button>}
          />
        )
      }
      header={
        <ChatHeader
          profilePath={profilePath}
          person={person}
          name={name}
          mutedText={conversation?.muted ? toMutedText(conversation, t) : undefined}
          typingText={showsTyping ? t("chat.typing") : undefined}
          subtitle={hasVisiblePresence(presence) ? <PresenceLine presence={presence} /> : undefined}
        />
      }
      callButtons={!isDeleted && <CallButtons peer={userId} name={name} refuse={refuseCall} />}
      callMenuItems={isDeleted ? [] : calls.menuItems(refuseCall)}
      callBack={refuseCall ?? calls.start}
      callBanner={<CallBanner peer={userId} />}
      renderMenu={(menu) => (
        <PrivateChatMenu
          {...menu}
          conversation={id}
          name={name}
          view={conversation}
          userId={userId}
          profilePath={profilePath}
          isBlocked={isBlocked}
          isContact={personRow?.state === "contact"}
          isDeleted={isDeleted}
        />
      )}
      composerReplacement={
        isDeleted ? (
          <DeletedAccountNotice conversation={id} />
        ) : isBlocked ? (
          <BlockedNotice userId={userId} conversation={id} name={name} />
        ) : numberNotice ? (
          <NumberNoticeBar userId={userId} conversation={id} name={name} kind={numberNotice} />
        ) : (
          canWrite === false && <NotConnectedNotice userId={userId} conversation={id} />
        )
      }
      dialog={calls.dialog}
    />
  );
}
