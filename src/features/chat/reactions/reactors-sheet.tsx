import { useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { isNearScrollEnd } from "#components/layout/scroll-end.ts";
import { useLoaded } from "#components/layout/use-loaded.ts";
import { Sheet } from "#components/overlays/sheet.tsx";
import { type ListedPerson, PersonListItem } from "#components/people/person-row.tsx";
import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import type { ReactorPage } from "#contract/wire/commands.ts";
import { parseReactions } from "#contract/wire/reactions.ts";
import { type ChatPeople, findSender } from "#features/chat/message/senders.ts";
import { fetchReactors } from "#sync/actions/fetch-reactors.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useLinkState } from "#sync/hooks/use-connection.ts";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";
import { usePerson } from "#sync/hooks/use-people.ts";
import { toShownSummary } from "./toggle-reaction.ts";

/** Time for which a placeholder stands for a name that is being fetched, before it counts as unknown. */
const nameWaitMs = 5_000;

/** Place of a person whose name is not read yet, as high as the person. */
function PersonPlaceholder() {
  return (
    <span aria-hidden="true" className="flex h-[50px] items-center gap-3">
      <span className="size-[50px] rounded-full bg-raised" />
      <span className="h-4 w-32 rounded bg-raised" />
    </span>
  );
}

/** Whether names of members may still arrive: they are being fetched, and not for long. */
const useIsWaitingForNames = (numbers: readonly number[]): boolean => {
  const [lateFor, setLateFor] = useState<readonly number[]>();
  const isOnline = useLinkState() === "online";
  useEffect(() => {
    const timer = setTimeout(() => setLateFor(numbers), nameWaitMs);
    return () => clearTimeout(timer);
  }, [numbers]);
  return isOnline && lateFor !== numbers;
};

type ReactorsSheetProps = {
  conversation: ConversationId;
  me: Uuid;
  people: ChatPeople;
  item: ChatItem;
  onClose: () => void;
};

type Reactor = ReactorPage["reactors"][number];

/** Pages of reactors loaded so far; `before` is null when all are loaded. */
type Loaded = { reactors: Reactor[]; before: number | null };

const useReactors = (conversation: ConversationId, seq: number, summary: string) => {
  const isOnline = useLinkState() === "online";
  const key = `${conversation} ${seq} ${summary} ${isOnline}`;
  const reactors = useLoaded<Loaded>(key, () => fetchReactors(conversation, seq));
  const { value: loaded, failure, retry } = reactors;
  const loadMore = () => {
    const before = loaded?.before;
    if (!loaded || typeof before !== "number") return;
    fetchReactors(conversation, seq, before).then(
      (page) =>
        reactors.change((now) =>
          now.before === before ? { reactors: [...now.reactors, ...page.reactors], before: page.before } : now,
        ),
      () => undefined, // asked again when the list is scrolled
    );
  };
  return { loaded, failure, loadMore, retry };
};

/** Name and picture of a member who reacted; undefined while they are being read. */
function ReactorName({ person }: { person: ListedPerson | undefined }) {
  return person ? <PersonListItem person={person} /> : <PersonPlaceholder />;
}

/** Members who reacted to a message, with their emoji. */
export default function ReactorsSheet({ conversation, me, people, item, onClose }: ReactorsSheetProps) {
  const { t } = useTranslation();
  const reactions = toShownSummary(item);
  const { seq = 0 } = item;
  const { loaded, failure, loadMore, retry } = useReactors(conversation, seq, reactions);
  const numbers = useMemo(() => loaded?.reactors.map(({ member }) => member) ?? [], [loaded]);
  const profiles = useMemberProfiles(people.members && conversation, numbers);
  const pair = privateMembers(conversation);
  const peer = usePerson(pair?.find((user) => user !== me));
  const ownNumber = people.members?.ownNumber ?? pair?.indexOf(me);
  const isWaiting = useIsWaitingForNames(numbers);
  const toPerson = (member: number) => {
    const unknown = { phone: "", avatar: null };
    if (member === ownNumber) return { ...unknown, username: t("common.you") };
    if (!people.members) return { ...unknown, ...peer, username: people.name };
    if (isWaiting && !profiles[member]) return undefined;
    const sender = findSender({ name: "", members: { ownNumber: people.members.ownNumber, profiles } }, member, t);
    return { ...unknown, ...sender?.person, username: sender?.name ?? "" };
  };
  return (
    <Sheet title={t("reactions.title")} onClose={onClose}>
      <ul className="flex shrink-0 flex-wrap gap-2 px-4 pb-2">
        {parseReactions(reactions).map((kind) => (
          <li
            key={kind.emoji}
            className={`flex items-center gap-1 rounded-full border px-2.5 py-1 text-sm tabular-nums ${kind.isOwn ? "border-accent bg-accent-soft text-accent" : "border-line text-muted"}`}
          >
            <span className="sr-only">
              {t(kind.isOwn ? "reactions.countOwn" : "reactions.count", { count: kind.count, emoji: kind.emoji })}
            </span>
            <span aria-hidden="true" className="text-base leading-none">
              {kind.emoji}
            </span>
            <span aria-hidden="true">{kind.count}</span>
          </li>
        ))}
      </ul>
      {failure !== undefined && !loaded ? (
        <div role="alert" className="grid justify-items-center gap-3 p-6 text-center">
          <p className="font-semibold">{t("reactions.failed")}</p>
          <Button variant="secondary" onClick={retry}>
            {t("common.retry")}
          </Button>
        </div>
      ) : !loaded ? (
        <div className="grid flex-1 place-items-center text-accent">
          <Spinner label={t("common.loading")} className="text-4xl" />
        </div>
      ) : (
        <ul
          aria-label={t("reactions.title")}
          className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-safe"
          onScroll={({ currentTarget }) => {
            if (isNearScrollEnd(currentTarget)) loadMore();
          }}
        >
          {loaded.reactors.map(({ member, emoji }) => (
            <li key={member} className="flex min-h-16 items-center gap-2 px-4 py-2">
              <div className="flex min-w-0 flex-1 items-center">
                <ReactorName person={toPerson(member)} />
              </div>
              <span className="text-2xl">{emoji}</span>
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  );
}
