import { type ReactNode, type RefObject, useCallback, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyOverlay } from "#components/layout/lazy-component.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useChatHistory } from "#sync/hooks/use-chat-history.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { type ChatView, useStorageIssue } from "#sync/hooks/use-live-query.ts";
import { toChatViewState } from "./chat-view-state.ts";
import { type ComposerHandle, MessageComposer } from "./composer/composer.tsx";
import { useComposerOverlay } from "./composer/composer-overlay.ts";
import { ChatHeaderActions } from "./header/header-actions.tsx";
import { MessageAnnouncer } from "./list/message-announcer.tsx";
import { MessageList } from "./list/message-list.tsx";
import { TypingAnnouncer } from "./list/typing-announcer.tsx";
import { type ChatCallActions, ChatCallActionsContext } from "./message/call-actions-context.ts";
import type { ChatParticipation } from "./message/failed-reason.ts";
import { type ChatPeople, useMentionedMembers } from "./message/senders.ts";
import { type ActiveSearchResult, ActiveSearchResultContext } from "./search/search-highlight.tsx";

const SearchPanel = lazyOverlay(() => import("./search/search-panel.tsx"));

type ChatLayoutProps = {
  conversation: ConversationId;
  chat: ChatView | undefined;
  /** What the chat is called. */
  name: string;
  /** My number among the members of a group. */
  ownNumber?: number | undefined;
  /** The server's word on this chat is here, or whatever else says that nothing is to be waited for. */
  isSynced: boolean;
  /** Undefined while that is not known. */
  canWrite: boolean | undefined;
  participation: ChatParticipation;
  /** Who types, for a screen reader. */
  typingText: string | undefined;
  header: ReactNode;
  /** The buttons that call, and what stands for them in the menu. */
  callButtons: ReactNode;
  callMenuItems?: MenuItem[];
  /** From the line of a call. */
  callBack?: ChatCallActions["callBack"];
  /** Of a call that is under way, below the header. */
  callBanner?: ReactNode;
  /** The menu's first entry leads to those one writes with; after the search come `deeds`. */
  firstMenuItem: MenuItem | undefined;
  menuItems: MenuItem[];
  /** Where there is nothing to read, instead of saying that nothing was written yet. */
  emptyState?: ReactNode;
  /** In the composer's place. */
  composerReplacement: ReactNode;
  dialog: ReactNode;
};

/** The same as long as what they lead to is: whatever they are drawn from is not drawn again. */
const useCallActions = (
  callBack: ChatCallActions["callBack"] | undefined,
  composer: RefObject<ComposerHandle | null> | undefined,
): ChatCallActions | undefined => {
  const latest = useRef(callBack);
  latest.current = callBack;
  const isThere = callBack !== undefined;
  return useMemo(
    () =>
      isThere
        ? {
            callBack: (kind) => latest.current?.(kind),
            startRecording: composer && (() => composer.current?.startRecording()),
          }
        : undefined,
    [isThere, composer],
  );
};

/** What every chat has: header, search, messages, composer. All is read from the local store, so it opens at once and offline. */
export function ChatLayout({
  conversation,
  chat,
  name,
  ownNumber,
  isSynced,
  canWrite,
  typingText,
  ...props
}: ChatLayoutProps) {
  const { emptyState, callBack } = props;
  const { t } = useTranslation();
  const isOffline = useIsOffline();
  const [isSearching, setSearching] = useState(false);
  const [found, setFound] = useState<ActiveSearchResult>();
  const [target, setTarget] = useState<number>();
  const [around, setAround] = useState<number>();
  const below = useRef<HTMLDivElement>(null);
  const forgetTarget = useCallback(() => setTarget(undefined), []);
  const goToNewest = useCallback(() => setAround(undefined), []);
  const past = useChatHistory(conversation, around, () => {
    goToNewest();
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.jumpFailed") });
  });
  const shown = around === undefined ? chat : past;
  const members = useMentionedMembers(conversation, ownNumber, shown?.items);
  const people = useMemo<ChatPeople>(() => ({ name, members }), [name, members]);

  const composer = useRef<ComposerHandle>(null);
  const calls = useCallActions(callBack, canWrite === true ? composer : undefined);

  const closeSearch = () => {
    setSearching(false);
    setFound(undefined);
  };
  /** Within what is shown the list itself goes there; anything further away is looked at by itself. */
  const goTo = (next: ActiveSearchResult | undefined) => {
    setFound(next);
    if (!next) return;
    const isIn = (view: typeof chat) => view?.items.some((item) => item.seq === next.seq) ?? false;
    setTarget(next.seq);
    if (!isIn(shown)) setAround(isIn(chat) ? undefined : next.seq);
  };

  const isFull = useStorageIssue() === "full";
  const state = toChatViewState(shown, { isSynced, isOffline, isStorageFull: isFull });
  const isCovered = isSearching && !found;
  useComposerOverlay(isCovered);
  const search: MenuItem = {
    id: "search",
    label: t("chat.search"),
    icon: "i-ph-magnifying-glass",
    onSelect: () => setSearching(true),
  };

  return (
    <Screen
      title={name}
      description={t("chat.description", { name })}
      backPath="/app"
      hasProfileButton={false}
      scrolls={false}
      heading={props.header}
      actions={
        <ChatHeaderActions
          callButtons={props.callButtons}
          callMenuItems={props.callMenuItems ?? []}
          menuItems={[...(props.firstMenuItem ? [props.firstMenuItem] : []), search, ...props.menuItems]}
        />
      }
    >
      {props.callBanner}
      <div className="relative flex min-h-0 flex-1 flex-col">
        {isSearching && (
          <SearchPanel
            conversation={conversation}
            people={people}
            activeResult={found}
            onSelect={goTo}
            onClose={closeSearch}
            fallback={
              <div className="absolute inset-0 z-2 flex bg-bg">
                <PaneSpinner />
              </div>
            }
          />
        )}
        {/* Covered, not removed: the list keeps its place under the search. */}
        <div ref={below} inert={isCovered} className="relative flex min-h-0 flex-1 flex-col">
          {canWrite === true && (
            <button
              type="button"
              className="sr-only focus-visible:not-sr-only focus-visible:absolute focus-visible:inset-x-4 focus-visible:top-2 focus-visible:z-2 focus-visible:mx-auto focus-visible:min-h-12 focus-visible:w-fit focus-visible:rounded-card focus-visible:bg-accent focus-visible:px-4 focus-visible:font-semibold focus-visible:text-on-accent"
              onClick={() => below.current?.querySelector("textarea")?.focus()}
            >
              {t("chat.toComposer")}
            </button>
          )}
          {!shown || state === "waiting" ? (
            <PaneSpinner />
          ) : state === "full" ? (
            <div className="my-auto">
              <EmptyState icon="i-ph-warning" title={t("errors.no_room")} />
            </div>
          ) : state === "offline" ? (
            <div className="my-auto">
              <EmptyState icon="i-ph-cloud-slash" title={t("chat.offlineTitle")} />
            </div>
          ) : state === "empty" ? (
            <div className="my-auto">
              {emptyState === undefined ? (
                <EmptyState
                  icon="i-ph-chat-circle-text"
                  title={t("chat.emptyTitle")}
                  body={canWrite ? t("chat.emptyBody", { name: isolateBidi(name) }) : undefined}
                />
              ) : (
                emptyState
              )}
            </div>
          ) : (
            <ChatCallActionsContext value={calls}>
              <ActiveSearchResultContext value={found}>
                <MessageList
                  key={around ?? "now"}
                  conversation={conversation}
                  chat={shown}
                  people={people}
                  participation={props.participation}
                  targetSeq={target}
                  onTargetShown={forgetTarget}
                  onJumpToLatest={goToNewest}
                  isVisible={!isCovered}
                />
              </ActiveSearchResultContext>
            </ChatCallActionsContext>
          )}
          {chat && state !== "waiting" && (
            <MessageAnnouncer conversation={conversation} items={chat.items} people={people} isLoading={chat.loading} />
          )}
          <TypingAnnouncer text={typingText} />
          {props.composerReplacement}
          {canWrite === true && (
            <MessageComposer
              ref={composer}
              conversation={conversation}
              onSend={() => {
                closeSearch();
                goToNewest();
              }}
            />
          )}
        </div>
      </div>
      {props.dialog}
    </Screen>
  );
}
