import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { CallBody } from "#contract/calls/call.ts";
import type { AttachedBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits.ts";
import { type CallUses, readCallUses } from "#sync/calls/call-data-use.ts";
import { readCallBody } from "#sync/calls/call-log.ts";
import { readLeftOver } from "#sync/drafts/draft-rows.ts";
import { liveQueries, running } from "#sync/engine.ts";
import { bringMembers } from "#sync/inbound/member-loader.ts";
import { fetchOlder } from "#sync/inbound/read-state.ts";
import type { FailureCode } from "#sync/platform/sync-error.ts";
import {
  namedIn,
  readBlocked,
  readChat,
  readContacts,
  readConversation,
  readConversations,
  readDraft,
  readRequests,
  uploadView,
} from "#sync/queries/queries.ts";
import type { Context } from "#sync/store/context.ts";
import type { MemberRow, PersonRow } from "#sync/store/database.ts";
import { readAuthors, readMember, readMembers, unknownOf } from "#sync/store/members.ts";
import { readMe } from "#sync/store/own-profile-row.ts";
import type {
  Authors,
  ChatView,
  ConversationListItem,
  ConversationView,
  FileView,
  LeftOver,
  LinkState,
  StorageTrouble,
  UploadView,
} from "#sync/store/views.ts";
import { readUnsent, type Unsent } from "#sync/unsent-summary.ts";

export type {
  Authors,
  ChatItem,
  ChatView,
  ConversationListItem,
  ConversationView,
  FileView,
  LeftOver,
  LinkState,
  UploadView,
} from "#sync/store/views.ts";

// Every hook reads the local store only and answers undefined while its first read is under way; a list also while it is
// empty and the server has not told all of it yet.

const nothing = { get: () => undefined, subscribe: () => () => {} };

/** A query of the local store under a key that says all it depends on; an undefined key asks nothing. */
export const useLive = <T>(
  key: string | undefined,
  query: (context: Context) => Promise<T>,
  lingers = true,
): T | undefined => {
  const queries = useSyncExternalStore(liveQueries.subscribe, liveQueries.get, () => undefined);
  // The key stands for the query: a function made anew at every rendering asks the same.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const live = useMemo(() => (queries && key ? queries.of(key, query, lingers) : nothing), [queries, key]);
  return useSyncExternalStore<T | undefined>(live.subscribe, live.get, () => undefined);
};

/** The list, newest first; at most `limit`, so fewer than that means there are no more. */
export const useConversations = (limit = 100): ConversationListItem[] | undefined => {
  const list = useLive(`conversations ${limit}`, ({ store, me }) => readConversations(store, me, limit));
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  // Members whom the last lines name and whom this phone does not know.
  useEffect(() => {
    for (const { id, group, gone, last, authors } of list ?? []) {
      if (!group || gone) continue;
      const unknown = namedIn(last).filter((number) => number !== group.number && !authors[number]);
      if (unknown.length > 0) sync?.tab.members.want(id, unknown);
    }
  }, [sync, list]);
  return list;
};

export const useConversation = (id: ConversationId | undefined): ConversationView | undefined =>
  useLive(id && `conversation ${id}`, ({ store, me }) => readConversation(store, me, id ?? ""));

const nobody: Authors = {};

/** The people behind these member numbers of a group, as far as they are known here; the others are asked for. */
export const useAuthors = (group: ConversationId | undefined, numbers: readonly number[]): Authors => {
  const key = `${group} ${numbers.join()}`;
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const known = useLive(group && `authors ${key}`, ({ store, me }) => readAuthors(store, me, group ?? "", numbers));
  const last = useRef(nobody);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the group and the numbers
  useEffect(() => {
    const context = sync?.tab.context.get();
    if (!context || !group || !known) return;
    void unknownOf(context, group, numbers).then(
      (unknown) => sync?.tab.members.want(group, unknown),
      () => {},
    );
  }, [sync, key, known]);
  // While more of them are looked up, those that were known stay.
  if (known) last.current = known;
  return known ?? last.current;
};

export type MemberList = {
  /** The whole list, or undefined: those who happen to be known are none. */
  members: MemberRow[] | undefined;
  /** Their roles are those of one moment; else some may be old and some new. */
  areRolesKnown: boolean;
  state: "loading" | "ready" | "failed";
  code?: FailureCode;
  again(): void;
};

/**
 * All members of a group: at once if they were once all held here, then as the group has them now. While those who
 * changed are asked for, what was shown stays; what failed is asked for again by itself, or at once by `again`.
 */
export const useMembers = (group: ConversationId, roster: number | undefined): MemberList => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const isOnline = useLink() === "online";
  const [tries, setTries] = useState(0);
  const [failure, setFailure] = useState<FailureCode>();
  const held = useLive(`members ${group}`, ({ store, me }) => readMembers(store, me, group));
  const isAll = held !== undefined && roster !== undefined && held.roster >= roster;
  const isMissing = held !== undefined && roster !== undefined && !isAll;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` is asking again
  useEffect(() => {
    const context = sync?.tab.context.get();
    if (!context || !isMissing || !isOnline) return;
    setFailure(undefined);
    return bringMembers(context, group, setFailure);
  }, [sync, group, roster, held?.roster, isMissing, isOnline, tries]);
  const again = useCallback(() => setTries((before) => before + 1), []);
  const state = isAll ? "ready" : failure !== undefined ? "failed" : "loading";
  const whole = useRef<{ group: ConversationId; members: MemberRow[] }>(undefined);
  if (isAll) whole.current = { group, members: held.members };
  const last = whole.current?.group === group ? whole.current.members : undefined;
  const members = last ?? (held && held.roster > 0 ? held.members : undefined);
  const areRolesKnown = last !== undefined;
  return { members, areRolesKnown, state, ...(failure === undefined ? {} : { code: failure }), again };
};

/** Somebody known to this device; null for a person it has nothing of. */
export const usePerson = (id: Uuid | undefined): PersonRow | null | undefined =>
  useLive(id && `person ${id}`, async ({ store }) => (await store.people.get(id ?? "")) ?? null);

/** Somebody who is or was in one of my groups, as a stranger sees them; null when this device knows of none. */
export const useMember = (id: Uuid | undefined): PersonRow | null | undefined =>
  useLive(id && `member ${id}`, ({ store }) => readMember(store, id ?? ""));

export const useContacts = (): PersonRow[] | undefined => useLive("contacts", ({ store }) => readContacts(store));

export const useRequests = (): { received: PersonRow[]; sent: PersonRow[] } | undefined =>
  useLive("requests", ({ store }) => readRequests(store));

/** What calls cost this phone, as far as that is kept: in bytes, by call. */
export const useCallUses = (): CallUses | undefined => useLive("call uses", ({ store }) => readCallUses(store));

/** What the log says of a call that ended a moment ago, once that is here. */
export const useCallBody = (conversation: ConversationId, call: Uuid): CallBody | undefined =>
  useLive(`call ${conversation} ${call}`, ({ store }) => readCallBody(store, conversation, call), false);

/** Everybody I have blocked. */
export const useBlocked = (): PersonRow[] | undefined => useLive("blocked", ({ store }) => readBlocked(store));

/** How far a file of mine is on its way; undefined once it is there. */
export const useUpload = (file: Uuid | undefined): UploadView | undefined =>
  useLive(file && `upload ${file}`, async ({ store }) => uploadView(await store.uploads.get(file ?? "")));

/** What was typed here and not sent, in whichever tab; empty when nothing was. */
export const useDraft = (id: ConversationId): string | undefined =>
  useLive(`draft ${id}`, ({ store }) => readDraft(store, id));

/** What was chosen or recorded there and not sent, in whichever tab. */
export const useLeftOver = (id: ConversationId): LeftOver | undefined =>
  useLive(`left over ${id}`, ({ store }) => readLeftOver(store, id));

/** Whether a voice message was recorded there and not sent, in whichever tab: one question for all rows of a list. */
export const useIsRecorded = (id: ConversationId): boolean =>
  useLive("recorded", ({ store }) => store.recordings.toCollection().primaryKeys())?.includes(id) ?? false;

/** What a sign-out would lose. */
export const useUnsent = (): Unsent | undefined => useLive("unsent", readUnsent);

/** The own profile; null before the session's profile was taken in. */
export const useMe = (): PersonRow | null | undefined => useLive("me", ({ store }) => readMe(store));

/**
 * A chat's newest messages, a page more at each `loadOlder`, which asks the server once everything held here is
 * shown; it rejects with a SyncError when that cannot be had.
 */
export const useChat = (id: ConversationId | undefined): ChatView | undefined => {
  const [window, setWindow] = useState({ id, limit: messagePageRows });
  const limit = window.id === id ? window.limit : messagePageRows;
  const [isLoading, setIsLoading] = useState(false);
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  // Nobody comes back to a window that grew: left to linger, a score of them would be read at each page that comes.
  const lingers = limit === messagePageRows;
  const chat = useLive(id && `chat ${id} ${limit}`, ({ store }) => readChat(store, id ?? "", limit), lingers);
  const [shown, setShown] = useState({ id, chat });
  // While a longer window is read the shorter one stays.
  if (chat && (shown.chat !== chat || shown.id !== id)) setShown({ id, chat });
  const current = chat ?? (shown.id === id ? shown.chat : undefined);
  // What stays meanwhile cannot tell whether more is needed: asked by it, the window would outgrow every read.
  const isReading = chat === undefined;

  useEffect(() => {
    if (sync && id) sync.tab.opened(id);
  }, [sync, id]);

  const hasMoreHere = current?.hasMoreHere ?? false;
  const hasMoreThere = current?.hasMoreThere ?? false;
  const loadOlder = useCallback(async () => {
    if (!sync || !id || isReading || (!hasMoreHere && !hasMoreThere)) return;
    setIsLoading(true);
    try {
      if (!hasMoreHere) await fetchOlder(sync.tab, id);
      setWindow((before) => ({ id, limit: (before.id === id ? before.limit : messagePageRows) + messagePageRows }));
    } finally {
      setIsLoading(false);
    }
  }, [sync, id, isReading, hasMoreHere, hasMoreThere]);

  return useMemo(
    () =>
      current && {
        items: current.items,
        hasOlder: hasMoreHere || hasMoreThere,
        loading: isLoading || isReading || current.isEmptyYet,
        loadOlder,
      },
    [current, hasMoreHere, hasMoreThere, isLoading, isReading, loadOlder],
  );
};

const unknownFile: Omit<FileView, "load"> = { url: undefined, state: "loading" };

/**
 * A file as this phone has it, own uploads included: `url` is good while somebody uses the hook. "loading" also
 * until it is known whether it is here.
 */
export const useFile = (conversation: ConversationId, { file, mime, size }: AttachedBody): FileView => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const shelved = useMemo(() => sync?.shelf.of({ file, mime, size }), [sync, file, mime, size]);
  const shown = useSyncExternalStore(shelved?.subscribe ?? nothing.subscribe, () => shelved?.get() ?? unknownFile);
  return useMemo(() => ({ ...shown, load: () => shelved?.load(conversation) }), [shown, shelved, conversation]);
};

const noTypists: readonly number[] = [];

/** The member numbers of those who are typing in a conversation, the first to begin before the others. */
export const useTyping = (conversation: ConversationId): readonly number[] => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const typists = sync?.tab.typing.typists;
  return useSyncExternalStore(
    typists?.subscribe ?? nothing.subscribe,
    () => typists?.get().get(conversation) ?? noTypists,
    () => noTypists,
  );
};

const offline = { get: (): LinkState => "connecting", subscribe: nothing.subscribe };

/** For a small banner: whether what is shown is level with the server. */
export const useLink = (): LinkState => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const link = sync?.tab.link ?? offline;
  return useSyncExternalStore<LinkState>(link.subscribe, link.get, () => "connecting");
};

/** Why this phone keeps less than it should; undefined when all is well. */
export const useStorageTrouble = (): StorageTrouble | undefined => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const trouble = sync?.tab.trouble ?? nothing;
  return useSyncExternalStore<StorageTrouble | undefined>(trouble.subscribe, trouble.get, () => undefined);
};
