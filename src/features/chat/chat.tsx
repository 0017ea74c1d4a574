import { type ReactNode, useCallback, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { privateConversationId, type Uuid } from "../../../contract/ids";
import { EmptyState } from "../../components/empty-state";
import { late } from "../../components/late";
import { Screen } from "../../components/screen";
import { Spinner } from "../../components/spinner";
import { showToast } from "../../components/toast";
import { useT } from "../../i18n/setup";
import { isolate } from "../../lib/isolate";
import { useChat, useConversation, useLink, usePerson, useTyping } from "../../sync/hooks";
import { useChatAround } from "../../sync/use-chat-around";
import { useProfile } from "../../sync/use-profile";
import { Announcer } from "./announcer";
import { BlockedNote } from "./blocked-note";
import { ChatButtons } from "./chat-buttons";
import { ChatHeading } from "./chat-heading";
import { Composer } from "./composer";
import { type Found, FoundMessage } from "./found";
import { MessageList } from "./message-list";
import { NotConnected } from "./not-connected";
import { TypingAnnouncer } from "./typing-announcer";
import { useChatDeeds } from "./use-chat-deeds";

const SearchPanel = late(() => import("./search-panel"));

type ChatProps = { me: Uuid; userId: Uuid; whenNobody: ReactNode };

/** A private chat. All of it is read from the local store, so it opens at once and offline. */
export function Chat({ me, userId, whenNobody }: ChatProps) {
  const t = useT();
  const navigate = useNavigate();
  const id = privateConversationId(me, userId);
  const conversation = useConversation(id);
  const chat = useChat(id);
  const known = usePerson(userId);
  const [look] = useProfile(userId);
  const link = useLink();
  const isTyping = useTyping(id).length > 0;
  const [isSearching, setSearching] = useState(false);
  const [found, setFound] = useState<Found>();
  const [target, setTarget] = useState<number>();
  const [around, setAround] = useState<number>();
  const below = useRef<HTMLDivElement>(null);
  const forgetTarget = useCallback(() => setTarget(undefined), []);
  const goToNewest = useCallback(() => setAround(undefined), []);
  const past = useChatAround(id, around, () => {
    goToNewest();
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.jumpFailed") });
  });
  const shown = around === undefined ? chat : past;

  const closeSearch = () => {
    setSearching(false);
    setFound(undefined);
  };
  /** Within what is shown the list itself goes there; anything further away is looked at by itself. */
  const goTo = (next: Found | undefined) => {
    setFound(next);
    if (!next) return;
    const isIn = (view: typeof chat) => view?.items.some((item) => item.seq === next.seq) ?? false;
    setTarget(next.seq);
    if (!isIn(shown)) setAround(isIn(chat) ? undefined : next.seq);
  };

  const person = look.state === "found" ? look.person : undefined;
  const name = person?.username || t("common.user");
  // Before the first words of the server this phone cannot tell whether they are connected.
  const isHeardOf = (conversation?.known ?? false) || look.state === "found" || look.state === "missing";
  const isBlocked = conversation?.blocked ?? false;
  const mayWrite = isHeardOf && !isBlocked ? conversation?.open : undefined;
  const profilePath = `/app/user/${userId}`;
  const deeds = useChatDeeds({
    conversation: id,
    userId,
    name,
    isKnown: conversation?.known ?? false,
    isMuted: conversation?.muted ?? false,
    isBlocked,
    isContact: known?.state === "contact",
  });

  if (look.state === "missing" && !chat?.items.length) return whenNobody;
  // Nothing is here and something may come: an unknown chat on a phone without network has nothing to wait for.
  const isWaiting = !shown || (shown.items.length === 0 && (shown.loading || (!isHeardOf && link !== "offline")));
  const isCovered = isSearching && !found;
  const isShownTyping = isTyping && !isBlocked;

  return (
    <Screen
      title={name}
      description={t("chat.description", { name })}
      back="/app"
      profile={false}
      scrolls={false}
      heading={
        <ChatHeading
          path={profilePath}
          person={person}
          name={name}
          isMuted={conversation?.muted ?? false}
          isTyping={isShownTyping}
        />
      }
      actions={
        <ChatButtons
          name={name}
          hindrance={isBlocked ? "contact_blocked" : mayWrite === false ? "not_connected" : undefined}
          items={[
            {
              id: "contact",
              label: t("chat.viewContact"),
              icon: "i-ph-user-circle",
              onSelect: () => navigate(profilePath),
            },
            {
              id: "search",
              label: t("chat.search"),
              icon: "i-ph-magnifying-glass",
              onSelect: () => setSearching(true),
            },
            ...deeds.items,
          ]}
        />
      }
    >
      <div className="relative flex min-h-0 flex-1 flex-col">
        {isSearching && <SearchPanel conversation={id} name={name} found={found} onGo={goTo} onClose={closeSearch} />}
        {/* Covered, not removed: the list keeps its place under the search. */}
        <div ref={below} inert={isCovered} className="relative flex min-h-0 flex-1 flex-col">
          {mayWrite === true && (
            <button
              type="button"
              className="sr-only focus-visible:not-sr-only focus-visible:absolute focus-visible:inset-x-4 focus-visible:top-2 focus-visible:z-2 focus-visible:mx-auto focus-visible:min-h-12 focus-visible:w-fit focus-visible:rounded-card focus-visible:bg-accent focus-visible:px-4 focus-visible:font-semibold focus-visible:text-on-accent"
              onClick={() => below.current?.querySelector("textarea")?.focus()}
            >
              {t("chat.toComposer")}
            </button>
          )}
          {isWaiting ? (
            <div className="grid min-h-0 flex-1 place-items-center text-accent">
              <span className="late">
                <Spinner label={t("common.loading")} className="text-4xl" />
              </span>
            </div>
          ) : shown.items.length === 0 ? (
            <div className="my-auto">
              <EmptyState
                icon="i-ph-chat-circle-text"
                title={t("chat.emptyTitle")}
                body={mayWrite ? t("chat.emptyBody", { name: isolate(name) }) : undefined}
              />
            </div>
          ) : (
            <FoundMessage value={found}>
              <MessageList
                key={around ?? "now"}
                conversation={id}
                chat={shown}
                name={name}
                target={target}
                onTargetShown={forgetTarget}
                onNewest={goToNewest}
                isShown={!isCovered}
              />
            </FoundMessage>
          )}
          {chat && !isWaiting && <Announcer items={chat.items} name={name} isLoading={chat.loading} />}
          <TypingAnnouncer name={name} isTyping={isShownTyping} />
          {isBlocked && <BlockedNote name={name} onUnblock={deeds.unblock} />}
          {mayWrite === true && (
            <Composer
              conversation={id}
              onSend={() => {
                closeSearch();
                goToNewest();
              }}
            />
          )}
          {mayWrite === false && <NotConnected userId={userId} />}
        </div>
      </div>
      {deeds.dialog}
    </Screen>
  );
}
