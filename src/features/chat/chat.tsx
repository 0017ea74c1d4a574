import { lazy, type ReactNode, Suspense, useCallback, useState } from "react";
import { Link, useNavigate } from "react-router";
import { privateConversationId, type Uuid } from "../../../contract/ids";
import { Avatar } from "../../components/avatar";
import { EmptyState } from "../../components/empty-state";
import { MenuButton } from "../../components/menu";
import { Screen } from "../../components/screen";
import { useT } from "../../i18n/setup";
import { useChat, useConversation } from "../../sync/hooks";
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
  const [isSearching, setSearching] = useState(false);
  const [target, setTarget] = useState<{ seq: number }>();
  const forgetTarget = useCallback(() => setTarget(undefined), []);

  if (peer === "not_found" && !chat?.items.length) return whenNobody;
  const person = peer === "not_found" ? undefined : peer;
  const name = person?.username || t("common.user");
  // A conversation the server has not told of yet is open to whoever is a contact.
  const mayWrite = conversation?.known ? conversation.open : person?.isContact;
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
              onPick={({ seq }) => {
                setSearching(false);
                setTarget({ seq });
              }}
              onClose={() => setSearching(false)}
            />
          </Suspense>
        )}
        {/* Covered, not removed: the list keeps its place under the search. */}
        <div inert={isSearching} className="flex min-h-0 flex-1 flex-col">
          {chat === undefined || (chat.items.length === 0 && chat.loading) ? (
            <div role="status" className="grid min-h-0 flex-1 place-items-center text-3xl text-accent">
              {chat && <span role="img" aria-label={t("common.loading")} className="i-ph-circle-notch animate-spin" />}
            </div>
          ) : chat.items.length === 0 ? (
            <div className="my-auto">
              <EmptyState
                icon="i-ph-chat-circle-text"
                title={t("chat.emptyTitle")}
                body={mayWrite ? t("chat.emptyBody", { name }) : undefined}
              />
            </div>
          ) : (
            <MessageList
              conversation={id}
              chat={chat}
              name={name}
              target={target}
              onTargetGone={forgetTarget}
              isShown={!isSearching}
            />
          )}
          {mayWrite === true && <Composer conversation={id} />}
          {mayWrite === false && <NotConnected />}
        </div>
      </div>
    </Screen>
  );
}
