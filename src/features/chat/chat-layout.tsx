import { type ReactNode, type RefObject, useCallback, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lateLayer } from "#components/layout/lazy-component.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { Screen } from "#components/layout/screen.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { isolate } from "#lib/text/bidi.ts";
import { useChatAround } from "#sync/hooks/use-chat-history.ts";
import { useIsOffline } from "#sync/hooks/use-connection.ts";
import { type ChatView, useStorageTrouble } from "#sync/hooks/use-live-query.ts";
import { paneStateOf } from "./chat-view-state.ts";
import { Composer, type ComposerHandle } from "./composer/composer.tsx";
import { useCover } from "./composer/composer-overlay.ts";
import { ChatButtons } from "./header/header-actions.tsx";
import { Announcer } from "./list/message-announcer.tsx";
import { MessageList } from "./list/message-list.tsx";
import { TypingAnnouncer } from "./list/typing-announcer.tsx";
import { type CallDeeds, CallDeedsContext } from "./message/call-actions-context.ts";
import type { Standing } from "./message/failed-reason.ts";
import { type ChatPeople, useMembersOf } from "./message/senders.ts";
import { type Found, FoundMessage } from "./search/search-highlight.tsx";

const SearchPanel = lateLayer(() => import("./search/search-panel.tsx"));

type ChatFrameProps = {
  conversation: ConversationId;
  chat: ChatView | undefined;
  /** What the chat is called. */
  name: string;
  /** My number among the members of a group. */
  own?: number | undefined;
  /** The server's word on this chat is here, or whatever else says that nothing is to be waited for. */
  isHeardOf: boolean;
  /** Undefined while that is not known. */
  mayWrite: boolean | undefined;
  standing: Standing;
  /** Who types, for a screen reader. */
  typing: string | undefined;
  heading: ReactNode;
  /** The buttons that call, and what stands for them in the menu. */
  calls: ReactNode;
  callItems?: MenuItem[];
  /** From the line of a call. */
  callBack?: CallDeeds["callBack"];
  /** Of a call that is under way, below the header. */
  banner?: ReactNode;
  /** The menu's first entry leads to those one writes with; after the search come `deeds`. */
  first: MenuItem | undefined;
  deeds: MenuItem[];
  /** Where there is nothing to read, instead of saying that nothing was written yet. */
  empty?: ReactNode;
  /** In the composer's place. */
  bottom: ReactNode;
  dialog: ReactNode;
};

/** The same as long as what they lead to is: whatever they are drawn from is not drawn again. */
const useCallDeeds = (
  callBack: CallDeeds["callBack"] | undefined,
  composer: RefObject<ComposerHandle | null> | undefined,
): CallDeeds | undefined => {
  const latest = useRef(callBack);
  latest.current = callBack;
  const isThere = callBack !== undefined;
  return useMemo(
    () =>
      isThere
        ? { callBack: (kind) => latest.current?.(kind), speak: composer && (() => composer.current?.speak()) }
        : undefined,
    [isThere, composer],
  );
};

/** What every chat has: header, search, messages, composer. All is read from the local store, so it opens at once and offline. */
export function ChatFrame({ conversation, chat, name, own, isHeardOf, mayWrite, typing, ...props }: ChatFrameProps) {
  const { empty, callBack } = props;
  const { t } = useTranslation();
  const isOffline = useIsOffline();
  const [isSearching, setSearching] = useState(false);
  const [found, setFound] = useState<Found>();
  const [target, setTarget] = useState<number>();
  const [around, setAround] = useState<number>();
  const below = useRef<HTMLDivElement>(null);
  const forgetTarget = useCallback(() => setTarget(undefined), []);
  const goToNewest = useCallback(() => setAround(undefined), []);
  const past = useChatAround(conversation, around, () => {
    goToNewest();
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.jumpFailed") });
  });
  const shown = around === undefined ? chat : past;
  const members = useMembersOf(conversation, own, shown?.items);
  const people = useMemo<ChatPeople>(() => ({ name, members }), [name, members]);

  const composer = useRef<ComposerHandle>(null);
  const calls = useCallDeeds(callBack, mayWrite === true ? composer : undefined);

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

  const isFull = useStorageTrouble() === "full";
  const state = paneStateOf(shown, { isHeardOf, isOffline, isFull });
  const isCovered = isSearching && !found;
  useCover(isCovered);
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
      back="/app"
      profile={false}
      scrolls={false}
      heading={props.heading}
      actions={
        <ChatButtons
          calls={props.calls}
          callItems={props.callItems ?? []}
          items={[...(props.first ? [props.first] : []), search, ...props.deeds]}
        />
      }
    >
      {props.banner}
      <div className="relative flex min-h-0 flex-1 flex-col">
        {isSearching && (
          <SearchPanel
            conversation={conversation}
            people={people}
            found={found}
            onGo={goTo}
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
          {mayWrite === true && (
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
              {empty === undefined ? (
                <EmptyState
                  icon="i-ph-chat-circle-text"
                  title={t("chat.emptyTitle")}
                  body={mayWrite ? t("chat.emptyBody", { name: isolate(name) }) : undefined}
                />
              ) : (
                empty
              )}
            </div>
          ) : (
            <CallDeedsContext value={calls}>
              <FoundMessage value={found}>
                <MessageList
                  key={around ?? "now"}
                  conversation={conversation}
                  chat={shown}
                  people={people}
                  standing={props.standing}
                  target={target}
                  onTargetShown={forgetTarget}
                  onNewest={goToNewest}
                  isShown={!isCovered}
                />
              </FoundMessage>
            </CallDeedsContext>
          )}
          {chat && state !== "waiting" && (
            <Announcer conversation={conversation} items={chat.items} people={people} isLoading={chat.loading} />
          )}
          <TypingAnnouncer text={typing} />
          {props.bottom}
          {mayWrite === true && (
            <Composer
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
