import { lazy, type ReactNode, Suspense, useCallback, useState } from "react";
import { Link, useNavigate } from "react-router";
import { privateConversationId, type Uuid } from "../../../contract/ids";
import { Avatar } from "../../components/avatar";
import { EmptyState } from "../../components/empty-state";
import { MenuButton } from "../../components/menu";
import { Screen } from "../../components/screen";
import { Spinner } from "../../components/spinner";
import { showToast } from "../../components/toast";
import { useT } from "../../i18n/setup";
import { useChat, useConversation, useLink } from "../../sync/hooks";
import { useChatAround } from "../../sync/use-chat-around";
import { Announcer } from "./announcer";
import { Composer } from "./composer";
import { MessageList } from "./message-list";
import { NotConnected } from "./not-connected";
import { usePeer } from "./use-peer";

const SearchPanel = lazy(() => import("./search-panel"));
const nobody = { username: "", phone: "", avatar: null };

type ChatProps = { me: Uuid; userId: Uuid; whenNobody: ReactNode };

/** A private chat. All of it is read from the local store, so it opens at once and offline. */
export function Chat({ me, userId, whenNobody }: ChatProps) {
  const t = useT();
  const navigate = useNavigate();
  const id = privateConversationId(me, userId);
  const conversation = useConversation(id);
  const chat = useChat(id);
  const peer = usePeer(userId);
  const link = useLink();
  const [isSearching, setSearching] = useState(false);
  const [target, setTarget] = useState<number>();
  const [around, setAround] = useState<number>();
  const forgetTarget = useCallback(() => setTarget(undefined), []);
  const goToNewest = useCallback(() => setAround(undefined), []);
  const past = useChatAround(id, around, () => {
    goToNewest();
    showToast({ tone: "danger", title: t("common.error"), message: t("chat.jumpFailed") });
  });

  /** Within what is loaded the list itself goes there; anything further away is looked at by itself. */
  const goTo = (seq: number) => {
    setSearching(false);
    setTarget(seq);
    setAround(chat?.items.some((item) => item.seq === seq) ? undefined : seq);
  };

  if (peer === "not_found" && !chat?.items.length) return whenNobody;
  const person = peer === "not_found" ? undefined : peer;
  const name = person?.username || t("common.user");
  // Before the first words of the server this phone cannot tell whether they are connected.
  const isHeardOf = conversation?.known || peer !== undefined;
  const mayWrite = isHeardOf ? conversation?.open : undefined;
  const shown = around === undefined ? chat : past;
  // Nothing is here and something may come: an unknown chat on a phone without network has nothing to wait for.
  const isWaiting = !shown || (shown.items.length === 0 && (shown.loading || (!isHeardOf && link !== "offline")));
  const profilePath = `/app/user/${userId}`;

  return (
    <Screen
      title={name}
      description={t("chat.description", { name })}
      back="/app"
      profile={false}
      scrolls={false}
      heading={
        <Link to={profilePath} className="flex min-h-12 w-fit max-w-full items-center gap-3 rounded-card pr-2">
          <Avatar person={person ?? nobody} size={40} />
          <bdi className="truncate text-lg">{person ? name : ""}</bdi>
        </Link>
      }
      actions={
        <MenuButton
          label={t("common.more")}
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
          ]}
        />
      }
    >
      <div className="relative flex min-h-0 flex-1 flex-col">
        {isSearching && (
          <Suspense>
            <SearchPanel
              conversation={id}
              name={name}
              onPick={({ seq }) => goTo(seq)}
              onClose={() => setSearching(false)}
            />
          </Suspense>
        )}
        {/* Covered, not removed: the list keeps its place under the search. */}
        <div inert={isSearching} className="flex min-h-0 flex-1 flex-col">
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
                body={mayWrite ? t("chat.emptyBody", { name }) : undefined}
              />
            </div>
          ) : (
            <MessageList
              key={around ?? "now"}
              conversation={id}
              chat={shown}
              name={name}
              target={target}
              onTargetShown={forgetTarget}
              onNewest={goToNewest}
              isShown={!isSearching}
            />
          )}
          {chat && !isWaiting && <Announcer items={chat.items} name={name} isLoading={chat.loading} />}
          {mayWrite === true && <Composer conversation={id} onSend={goToNewest} />}
          {mayWrite === false && <NotConnected userId={userId} />}
        </div>
      </div>
    </Screen>
  );
}
