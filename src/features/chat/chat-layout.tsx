import { type ComponentType, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { useInterruptibleContent } from "#components/layout/use-interruptible-content.ts";
import { composerCover, useLayer } from "#components/overlays/cover.ts";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { loadWithIdleTexts, loadWithTexts } from "#i18n/setup.ts";
import { reportContentMissing, reportScreenDrawn } from "#lib/browser/first-view.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import type { ChatView } from "#sync/hooks/use-chat.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useStorageTrouble } from "#sync/hooks/use-live-query.ts";
import { toChatViewState } from "./chat-view-state.ts";
import { type ComposerHandle, MessageComposer } from "./composer/composer.tsx";
import { EditContext } from "./edit/edit-context.ts";
import { useEditing } from "./edit/use-editing.ts";
import { ChatHeaderActions, type RenderHeaderMenu } from "./header/header-actions.tsx";
import { PinnedArea } from "./header/pinned-area.tsx";
import { MessageAnnouncer } from "./list/message-announcer.tsx";
import { MessageList } from "./list/message-list.tsx";
import { TypingAnnouncer } from "./list/typing-announcer.tsx";
import { useCallActions } from "./list/use-call-actions.ts";
import { useChatPosition } from "./list/use-chat-position.ts";
import type { MentionPickerProps } from "./mentions/mention-picker.tsx";
import type { UnseenMentions } from "./mentions/unseen-mentions.tsx";
import { type ChatCallActions, ChatCallActionsContext } from "./message/call-actions-context.ts";
import type { ChatParticipation } from "./message/chat-participation.ts";
import { type ChatPeople, useMentionedMembers } from "./message/senders.ts";
import { ReplyActionsContext } from "./reply/reply-actions-context.ts";
import { useReplyActions } from "./reply/use-reply-actions.ts";
import { type ActiveSearchResult, ActiveSearchResultContext } from "./search/search-highlight.tsx";

const EditComposer = lazyComponent(() => loadWithIdleTexts(() => import("./edit/edit-composer.tsx")));
const ParkedTextList = lazyComponent(() => loadWithTexts(() => import("./unsent/parked-texts.tsx")));
const PinnedBar = lazyComponent(() => loadWithIdleTexts(() => import("./header/pinned-bar.tsx")));
const ReturnButton = lazyComponent(() => loadWithIdleTexts(() => import("./reply/return-button.tsx")));
const SearchPanel = lazyOverlay(() => import("./search/search-panel.tsx"));

type ChatLayoutProps = {
  conversation: ConversationId;
  chat: ChatView | undefined;
  /** Display name of the chat: the peer or the group. */
  name: string;
  /** Member number of this user; only in a group. */
  ownNumber?: number | undefined;
  /** Mentions of this user, and the list of members to mention; only in a group. */
  mentions?: UnseenMentions;
  MentionPicker?: ComponentType<MentionPickerProps>;
  /** False while the server's state of this chat is still expected. */
  isSynced: boolean;
  /** Whether this user may send messages here; undefined while unknown. */
  canWrite: boolean | undefined;
  participation: ChatParticipation;
  /** Typing notification for screen readers. */
  typingText: string | undefined;
  header: ReactNode;
  callButtons: ReactNode;
  /** Menu entries for the call buttons that do not fit into the header. */
  callMenuItems?: MenuItem[];
  /** Calls back from a call entry in the list. */
  callBack?: ChatCallActions["callBack"];
  /** Banner of an ongoing call, below the header. */
  callBanner?: ReactNode;
  renderMenu: RenderHeaderMenu;
  /** Replaces the default empty state of a chat without messages. */
  emptyState?: ReactNode;
  /** Notice shown where this user cannot write. */
  composerReplacement: ReactNode;
  dialog?: ReactNode;
};

/**
 * Layout of every chat: header, search, message list and composer. All data is read from the local store, so a chat
 * opens immediately and offline.
 */
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
  const [activeResult, setActiveResult] = useState<ActiveSearchResult>();
  const chatArea = useRef<HTMLDivElement>(null);
  const position = useChatPosition(conversation, chat, isOffline);
  const { displayed, goToMessage, jumpToLatest } = position;
  const members = useMentionedMembers(conversation, ownNumber, displayed?.items);
  const people = useMemo<ChatPeople>(() => ({ name, members }), [name, members]);

  const composer = useRef<ComposerHandle>(null);
  const callActions = useCallActions(callBack, canWrite === true ? composer : undefined);

  const closeSearch = () => {
    setSearching(false);
    setActiveResult(undefined);
  };
  const goToResult = (next: ActiveSearchResult | undefined) => {
    setActiveResult(next);
    if (next) goToMessage(next.seq);
  };
  const replies = useReplyActions({ conversation, people, canWrite: canWrite === true, composer, goToMessage });
  const { edited, ...editing } = useEditing(conversation, chat, canWrite, composer);
  const leaveHistory = () => {
    jumpToLatest();
    replies.forgetReturn();
  };

  const isStorageFull = useStorageTrouble() === "full";
  const state = toChatViewState(displayed, { isSynced, isOffline, isStorageFull });
  const view = useConversation(conversation);
  const isMissing = displayed === undefined || view === undefined || state === "waiting";
  const isDrawn = useInterruptibleContent(!isMissing);
  useLayoutEffect(() => {
    if (isDrawn) reportScreenDrawn("chat");
    else if (isMissing) reportContentMissing();
  }, [isDrawn, isMissing]);
  const isSearchListOpen = isSearching && !activeResult;
  useLayer(composerCover, isSearchListOpen);

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
          renderMenu={props.renderMenu}
          onSearch={() => setSearching(true)}
          onShowMessage={goToMessage}
        />
      }
    >
      {props.callBanner}
      <div className="relative flex min-h-0 flex-1 flex-col">
        {isSearching && (
          <SearchPanel
            conversation={conversation}
            people={people}
            activeResult={activeResult}
            onSelect={goToResult}
            onClose={closeSearch}
            fallback={
              <div className="absolute inset-0 z-2 flex bg-bg">
                <PaneSpinner />
              </div>
            }
          />
        )}
        <ReplyActionsContext value={replies.actions}>
          {/* Stays mounted under the search, so that the list keeps its scroll position. */}
          <div ref={chatArea} inert={isSearchListOpen} className="relative flex min-h-0 flex-1 flex-col">
            {canWrite === true && (
              <button
                type="button"
                className="sr-only focus-visible:not-sr-only focus-visible:absolute focus-visible:inset-x-4 focus-visible:top-2 focus-visible:z-2 focus-visible:mx-auto focus-visible:min-h-12 focus-visible:w-fit focus-visible:rounded-card focus-visible:bg-accent focus-visible:px-4 focus-visible:font-semibold focus-visible:text-on-accent"
                onClick={() => chatArea.current?.querySelector("textarea")?.focus()}
              >
                {t("chat.toComposer")}
              </button>
            )}
            {view && isDrawn && view.pinnedMessages.length > 0 && (
              <PinnedArea>
                <PinnedBar
                  conversation={conversation}
                  people={people}
                  pinned={view.pinnedMessages}
                  group={view.group}
                  onJump={goToMessage}
                />
              </PinnedArea>
            )}
            {!displayed || state === "waiting" || !isDrawn ? (
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
              <ChatCallActionsContext value={callActions}>
                <EditContext value={editing.start}>
                  <ActiveSearchResultContext value={activeResult}>
                    <MessageList
                      key={position.key}
                      conversation={conversation}
                      chat={displayed}
                      people={people}
                      participation={props.participation}
                      targetSeq={position.targetSeq}
                      onTargetShown={position.clearTarget}
                      onJumpToLatest={leaveHistory}
                      mentions={props.mentions}
                      onJumpToMessage={goToMessage}
                      overlay={replies.returnSeq !== undefined && <ReturnButton onClick={replies.returnToReply} />}
                      isVisible={!isSearchListOpen}
                    />
                  </ActiveSearchResultContext>
                </EditContext>
              </ChatCallActionsContext>
            )}
            {chat && isDrawn && (
              <MessageAnnouncer
                conversation={conversation}
                items={chat.items}
                people={people}
                isLoading={chat.loading}
              />
            )}
            <TypingAnnouncer text={typingText} />
            {!edited && editing.parkedTexts.length > 0 && (
              <ParkedTextList
                conversation={conversation}
                texts={editing.parkedTexts}
                canWrite={canWrite === true}
                onRestored={() => composer.current?.focus()}
              />
            )}
            {props.composerReplacement}
            {edited && (
              <EditComposer
                key={edited.key}
                conversation={conversation}
                item={edited}
                onClose={editing.stop}
                onReopen={() => editing.start?.(edited)}
              />
            )}
            {canWrite === true && (
              <MessageComposer
                ref={composer}
                conversation={conversation}
                isHidden={edited !== undefined}
                onEditLast={editing.startLast}
                MentionPicker={props.MentionPicker}
                onSend={() => {
                  closeSearch();
                  leaveHistory();
                }}
              />
            )}
          </div>
        </ReplyActionsContext>
      </div>
      {props.dialog}
    </Screen>
  );
}
