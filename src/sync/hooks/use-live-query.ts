import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { CallBody } from "#contract/calls/call.ts";
import type { AttachedBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits.ts";
import { type CallDataUse, readCallDataUse } from "#sync/calls/call-data-use.ts";
import { findCallEntry } from "#sync/calls/call-log.ts";
import { readUnsentContent } from "#sync/drafts/draft-rows.ts";
import { activeEngine, liveQueries } from "#sync/engine.ts";
import { syncMemberListWithRetry } from "#sync/inbound/member-loader.ts";
import type { FailureCode } from "#sync/platform/sync-error.ts";
import { fetchOlderMessages } from "#sync/queries/message-window.ts";
import {
  listNamedMembers,
  readBlockedPeople,
  readChat,
  readContactRequests,
  readContacts,
  readConversation,
  readConversations,
  readTextDraft,
  toUploadView,
} from "#sync/queries/queries.ts";
import type { MemberRow, PersonRow } from "#sync/store/database.ts";
import { listUnknownMembers, readLastKnownProfile, readMemberProfiles, readMembers } from "#sync/store/members.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type {
  ChatView,
  ConversationListItem,
  ConversationView,
  FileView,
  LinkState,
  MemberProfiles,
  StorageTrouble,
  UnsentContent,
  UploadView,
} from "#sync/store/view-models.ts";
import { readUnsentSummary, type UnsentSummary } from "#sync/unsent-summary.ts";

export type {
  ChatItem,
  ChatView,
  ConversationListItem,
  ConversationView,
  FileView,
  LinkState,
  MemberProfiles,
  UnsentContent,
  UploadView,
} from "#sync/store/view-models.ts";

// Every hook reads the local store only and answers undefined while its first read is under way; a list also while it is
// empty and the server has not told all of it yet.

const emptySource = { get: () => undefined, subscribe: () => () => {} };

/** A query of the local store under a key that says all it depends on; an undefined key asks nothing. */
export const useLiveQuery = <T>(
  key: string | undefined,
  query: (context: SyncContext) => Promise<T>,
  lingers = true,
): T | undefined => {
  const queries = useSyncExternalStore(liveQueries.subscribe, liveQueries.get, () => undefined);
  // The key stands for the query: a function made anew at every rendering asks the same.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const live = useMemo(() => (queries && key ? queries.openQuery(key, query, lingers) : emptySource), [queries, key]);
  return useSyncExternalStore<T | undefined>(live.subscribe, live.get, () => undefined);
};

/** The list, newest first; at most `limit`, so fewer than that means there are no more. */
export const useConversations = (limit = 100): ConversationListItem[] | undefined => {
  const list = useLiveQuery(`conversations ${limit}`, ({ store, me }) => readConversations(store, me, limit));
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  // Members whom the last lines name and whom this phone does not know.
  useEffect(() => {
    for (const { id, group, gone, last, memberProfiles } of list ?? []) {
      if (!group || gone) continue;
      const unknown = listNamedMembers(last).filter((number) => number !== group.number && !memberProfiles[number]);
      if (unknown.length > 0) sync?.tab.memberLoader.requestMembers(id, unknown);
    }
  }, [sync, list]);
  return list;
};

export const useConversation = (id: ConversationId | undefined): ConversationView | undefined =>
  useLiveQuery(id && `conversation ${id}`, ({ store, me }) => readConversation(store, me, id ?? ""));

const noProfilesYet: MemberProfiles = {};

/** The people behind these member numbers of a group, as far as they are known here; the others are asked for. */
export const useMemberProfiles = (group: ConversationId | undefined, numbers: readonly number[]): MemberProfiles => {
  const key = `${group} ${numbers.join()}`;
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const known = useLiveQuery(group && `authors ${key}`, ({ store, me }) =>
    readMemberProfiles(store, me, group ?? "", numbers),
  );
  const last = useRef(noProfilesYet);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the group and the numbers
  useEffect(() => {
    const context = sync?.tab.context.get();
    if (!context || !group || !known) return;
    void listUnknownMembers(context, group, numbers).then(
      (unknown) => sync?.tab.memberLoader.requestMembers(group, unknown),
      () => {},
    );
  }, [sync, key, known]);
  // While more of them are looked up, those that were known stay.
  if (known) last.current = known;
  return known ?? last.current;
};

export type GroupMembersState = {
  /** The whole list, or undefined: those who happen to be known are none. */
  members: MemberRow[] | undefined;
  /** Their roles are those of one moment; else some may be old and some new. */
  areRolesKnown: boolean;
  state: "loading" | "ready" | "failed";
  code?: FailureCode;
  refetch(): void;
};

/**
 * All members of a group: at once if they were once all held here, then as the group has them now. While those who
 * changed are asked for, what was shown stays; what failed is asked for again by itself, or at once by `again`.
 */
export const useGroupMembers = (group: ConversationId, roster: number | undefined): GroupMembersState => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const isOnline = useLinkState() === "online";
  const [tries, setTries] = useState(0);
  const [failure, setFailure] = useState<FailureCode>();
  const held = useLiveQuery(`members ${group}`, ({ store, me }) => readMembers(store, me, group));
  const isAll = held !== undefined && roster !== undefined && held.roster >= roster;
  const isMissing = held !== undefined && roster !== undefined && !isAll;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` is asking again
  useEffect(() => {
    const context = sync?.tab.context.get();
    if (!context || !isMissing || !isOnline) return;
    setFailure(undefined);
    return syncMemberListWithRetry(context, group, setFailure);
  }, [sync, group, roster, held?.roster, isMissing, isOnline, tries]);
  const again = useCallback(() => setTries((before) => before + 1), []);
  const state = isAll ? "ready" : failure !== undefined ? "failed" : "loading";
  const whole = useRef<{ group: ConversationId; members: MemberRow[] }>(undefined);
  if (isAll) whole.current = { group, members: held.members };
  const last = whole.current?.group === group ? whole.current.members : undefined;
  const members = last ?? (held && held.roster > 0 ? held.members : undefined);
  const areRolesKnown = last !== undefined;
  return { members, areRolesKnown, state, ...(failure === undefined ? {} : { code: failure }), refetch: again };
};

/** Somebody known to this device; null for a person it has nothing of. */
export const usePerson = (id: Uuid | undefined): PersonRow | null | undefined =>
  useLiveQuery(id && `person ${id}`, async ({ store }) => (await store.people.get(id ?? "")) ?? null);

/** Somebody who is or was in one of my groups, as a stranger sees them; null when this device knows of none. */
export const useMember = (id: Uuid | undefined): PersonRow | null | undefined =>
  useLiveQuery(id && `member ${id}`, ({ store }) => readLastKnownProfile(store, id ?? ""));

export const useContacts = (): PersonRow[] | undefined => useLiveQuery("contacts", ({ store }) => readContacts(store));

export const useRequests = (): { received: PersonRow[]; sent: PersonRow[] } | undefined =>
  useLiveQuery("requests", ({ store }) => readContactRequests(store));

/** What calls cost this phone, as far as that is kept: in bytes, by call. */
export const useCallDataUse = (): CallDataUse | undefined =>
  useLiveQuery("call uses", ({ store }) => readCallDataUse(store));

/** What the log says of a call that ended a moment ago, once that is here. */
export const useCallEntry = (conversation: ConversationId, call: Uuid): CallBody | undefined =>
  useLiveQuery(`call ${conversation} ${call}`, ({ store }) => findCallEntry(store, conversation, call), false);

/** Everybody I have blocked. */
export const useBlockedPeople = (): PersonRow[] | undefined =>
  useLiveQuery("blocked", ({ store }) => readBlockedPeople(store));

/** How far a file of mine is on its way; undefined once it is there. */
export const useUpload = (file: Uuid | undefined): UploadView | undefined =>
  useLiveQuery(file && `upload ${file}`, async ({ store }) => toUploadView(await store.uploads.get(file ?? "")));

/** What was typed here and not sent, in whichever tab; empty when nothing was. */
export const useTextDraft = (id: ConversationId): string | undefined =>
  useLiveQuery(`draft ${id}`, ({ store }) => readTextDraft(store, id));

/** What was chosen or recorded there and not sent, in whichever tab. */
export const useUnsentContent = (id: ConversationId): UnsentContent | undefined =>
  useLiveQuery(`left over ${id}`, ({ store }) => readUnsentContent(store, id));

/** Whether a voice message was recorded there and not sent, in whichever tab: one question for all rows of a list. */
export const useHasVoiceDraft = (id: ConversationId): boolean =>
  useLiveQuery("recorded", ({ store }) => store.recordings.toCollection().primaryKeys())?.includes(id) ?? false;

/** What a sign-out would lose. */
export const useUnsentSummary = (): UnsentSummary | undefined => useLiveQuery("unsent", readUnsentSummary);

/** The own profile; null before the session's profile was taken in. */
export const useOwnProfile = (): PersonRow | null | undefined =>
  useLiveQuery("me", ({ store }) => readOwnProfile(store));

/**
 * A chat's newest messages, a page more at each `loadOlder`, which asks the server once everything held here is
 * shown; it rejects with a SyncError when that cannot be had.
 */
export const useChat = (id: ConversationId | undefined): ChatView | undefined => {
  const [window, setWindow] = useState({ id, limit: messagePageRows });
  const limit = window.id === id ? window.limit : messagePageRows;
  const [isLoading, setIsLoading] = useState(false);
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  // Nobody comes back to a window that grew: left to linger, a score of them would be read at each page that comes.
  const lingers = limit === messagePageRows;
  const chat = useLiveQuery(id && `chat ${id} ${limit}`, ({ store }) => readChat(store, id ?? "", limit), lingers);
  const [shown, setShown] = useState({ id, chat });
  // While a longer window is read the shorter one stays.
  if (chat && (shown.chat !== chat || shown.id !== id)) setShown({ id, chat });
  const current = chat ?? (shown.id === id ? shown.chat : undefined);
  // What stays meanwhile cannot tell whether more is needed: asked by it, the window would outgrow every read.
  const isReading = chat === undefined;

  useEffect(() => {
    if (sync && id) sync.tab.prioritizeConversation(id);
  }, [sync, id]);

  const hasMoreHere = current?.hasMoreLocally ?? false;
  const hasMoreThere = current?.hasMoreOnServer ?? false;
  const loadOlder = useCallback(async () => {
    if (!sync || !id || isReading || (!hasMoreHere && !hasMoreThere)) return;
    setIsLoading(true);
    try {
      if (!hasMoreHere) await fetchOlderMessages(sync.tab, id);
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
        loading: isLoading || isReading || current.isNotLoadedYet,
        loadOlder,
      },
    [current, hasMoreHere, hasMoreThere, isLoading, isReading, loadOlder],
  );
};

const loadingFile: Omit<FileView, "load"> = { url: undefined, state: "loading" };

/**
 * A file as this phone has it, own uploads included: `url` is good while somebody uses the hook. "loading" also
 * until it is known whether it is here.
 */
export const useFile = (conversation: ConversationId, { file, mime, size }: AttachedBody): FileView => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const shelved = useMemo(() => sync?.objectUrls.get({ file, mime, size }), [sync, file, mime, size]);
  const shown = useSyncExternalStore(shelved?.subscribe ?? emptySource.subscribe, () => shelved?.get() ?? loadingFile);
  return useMemo(() => ({ ...shown, load: () => shelved?.load(conversation) }), [shown, shelved, conversation]);
};

const noTypingMembers: readonly number[] = [];

/** The member numbers of those who are typing in a conversation, the first to begin before the others. */
export const useTypingMembers = (conversation: ConversationId): readonly number[] => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const typists = sync?.tab.typing.members;
  return useSyncExternalStore(
    typists?.subscribe ?? emptySource.subscribe,
    () => typists?.get().get(conversation) ?? noTypingMembers,
    () => noTypingMembers,
  );
};

const disconnectedLink = { get: (): LinkState => "connecting", subscribe: emptySource.subscribe };

/** For a small banner: whether what is shown is level with the server. */
export const useLinkState = (): LinkState => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const link = sync?.tab.link ?? disconnectedLink;
  return useSyncExternalStore<LinkState>(link.subscribe, link.get, () => "connecting");
};

/** Why this phone keeps less than it should; undefined when all is well. */
export const useStorageIssue = (): StorageTrouble | undefined => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const trouble = sync?.tab.storageIssue ?? emptySource;
  return useSyncExternalStore<StorageTrouble | undefined>(trouble.subscribe, trouble.get, () => undefined);
};
