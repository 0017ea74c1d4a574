import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { CallBanner } from "#calls/ui/call-banner.tsx";
import { CallButtons, useCallStart } from "#calls/ui/call-buttons.tsx";
import { Button } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { nameOfPerson } from "#components/people/person-name.ts";
import { refuseBlocked } from "#components/people/refuse-call.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { isolate } from "#lib/text/bidi.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { useChat, useConversation, usePerson, useTyping } from "#sync/hooks/use-live-query.ts";
import { usePresence } from "#sync/hooks/use-presence.ts";
import { useProfile } from "#sync/hooks/use-profile.ts";
import { ChatFrame } from "./chat-layout.tsx";
import { BlockedNote } from "./composer/blocked-notice.tsx";
import { DeletedNote } from "./composer/deleted-notice.tsx";
import { NotConnected } from "./composer/not-connected-notice.tsx";
import { ChatHeading } from "./header/chat-header.tsx";
import { isTelling, PresenceLine } from "./header/presence-line.tsx";
import { useChatDeeds } from "./header/use-chat-menu.tsx";
import { usePersonDeeds } from "./header/use-contact-menu.tsx";

type PrivateChatProps = { me: Uuid; userId: Uuid; whenNobody: ReactNode };

/** A chat with one person: who they are, whether the two may write to each other, and what can be done about them. */
export function PrivateChat({ me, userId, whenNobody }: PrivateChatProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const id = privateConversationId(me, userId);
  const conversation = useConversation(id);
  const chat = useChat(id);
  const known = usePerson(userId);
  const [look, lookAgain] = useProfile(userId);
  const isTyping = useTyping(id).length > 0;

  const person = look.state === "found" ? look.person : undefined;
  const name = nameOfPerson(person, t);
  const isDeleted = person?.deleted === 1;
  // Before the first words of the server this phone cannot tell whether they are connected.
  const isTold = (conversation?.told ?? false) || look.state === "missing";
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
  const deeds = useChatDeeds(id, name, conversation);
  const personDeeds = usePersonDeeds({ userId, name, isBlocked, isContact: known?.state === "contact" });
  const refuseStranger = () =>
    showToast({ tone: "danger", title: t("people.notConnectedTitle"), message: t("people.notConnected") });
  const refuseDeleted = () => showToast({ title: t("common.deletedAccount"), message: t("chat.accountDeleted") });
  /** In the place of a call, where there can be none. */
  const refuse = isDeleted
    ? refuseDeleted
    : isBlocked
      ? () => refuseBlocked(name)
      : mayWrite === false
        ? refuseStranger
        : undefined;
  const calls = useCallStart(userId, name);
  const isShownTyping = isTyping && !isBlocked;

  if (look.state === "missing" && !chat?.items.length) return whenNobody;
  return (
    <ChatFrame
      conversation={id}
      chat={chat}
      name={name}
      isHeardOf={isHeardOf}
      mayWrite={mayWrite}
      standing={isDeleted ? "alone" : "private"}
      typing={isShownTyping ? t("chat.isTyping", { name: isolate(name) }) : undefined}
      empty={
        failure && (
          <EmptyState
            icon="i-ph-cloud-slash"
            title={t("chat.contactFailed")}
            body={t(`errors.${failure}`)}
            action={<Button onClick={lookAgain}>{t("common.retry")}</Button>}
          />
        )
      }
      heading={
        <ChatHeading
          path={profilePath}
          person={person}
          name={name}
          isMuted={conversation?.muted ?? false}
          typing={isShownTyping ? t("chat.typing") : undefined}
          line={isTelling(presence) ? <PresenceLine presence={presence} /> : undefined}
        />
      }
      calls={!isDeleted && <CallButtons peer={userId} name={name} refuse={refuse} />}
      callItems={isDeleted ? [] : calls.items(refuse)}
      callBack={refuse ?? calls.start}
      banner={<CallBanner peer={userId} />}
      first={{
        id: "contact",
        label: t("chat.viewContact"),
        icon: "i-ph-user-circle",
        onSelect: () => navigate(profilePath),
      }}
      deeds={isDeleted ? deeds.items : [...deeds.items, ...personDeeds.items]}
      bottom={
        isDeleted ? (
          <DeletedNote conversation={id} />
        ) : isBlocked ? (
          <BlockedNote name={name} onUnblock={personDeeds.unblock} />
        ) : (
          mayWrite === false && <NotConnected userId={userId} />
        )
      }
      dialog={
        <>
          {deeds.dialog}
          {personDeeds.dialog}
          {calls.question}
        </>
      }
    />
  );
}
