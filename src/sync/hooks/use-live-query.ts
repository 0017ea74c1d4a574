import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { CallBody } from "#contract/calls/call.ts";
import type { AttachedBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits.ts";
import { type CallDataUse, readCallDataUse } from "#sync/calls/call-data-use.ts";
import { findCallEntry } from "#sync/calls/call-log.ts";
import { readUnsentContent } from "#sync/drafts/draft-rows.ts";
import { activeEngine, liveQueries, type SyncEngine } from "#sync/engine.ts";
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
import { type MemberRow, type PersonRow, toDraftTarget } from "#sync/store/database.ts";
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

// These hooks read the local store only. They return undefined until their first read; a list also while it is empty and
// the server has not sent all of it yet.

const emptySource = { get: () => undefined, subscribe: () => () => {} };

/** Running sync engine; undefined while none runs. */
export const useEngine = (): SyncEngine | undefined =>
  useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);

/**
 * Runs a query of the local store and returns its latest result. `key` identifies the query and its parameters; an
 * undefined key runs none. `keepsAlive`: the query stays active for a moment after its last screen.
 */
export const useLiveQuery = <T>(
  key: string | undefined,
  query: (context: SyncContext) => Promise<T>,
  keepsAlive = true,
): T | undefined => {
  const queries = useSyncExternalStore(liveQueries.subscribe, liveQueries.get, () => undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the query, a new function at every render
  const live = useMemo(
    () => (queries && key ? queries.openQuery(key, query, keepsAlive) : emptySource),
    [queries, key],
  );
  return useSyncExternalStore<T | undefined>(live.subscribe, live.get, () => undefined);
};

/** The newest conversations, at most `limit`. Fewer than that means that there are no more. */
export const useConversations = (limit = 100): ConversationListItem[] | undefined => {
  const list = useLiveQuery(`conversations ${limit}`, ({ store, me }) => readConversations(store, me, limit));
  const sync = useEngine();
  // Fetch unknown members who are named in the last messages.
  useEffect(() => {
    for (const { id, group, gone, last, memberProfiles } of list ?? []) {
      if (!group || gone) continue;
      const unknown = listNamedMembers(last).filter((number) => number !== group.number && !memberProfiles[number]);
      if (unknown.length > 0) sync?.tab.memberLoader.requestMembers(id, unknown);
    }
  }, [sync, list]);
  return list;
};

/** One conversation, or a default view if this device has no row of it. */
export const useConversation = (id: ConversationId | undefined): ConversationView | undefined =>
  useLiveQuery(id && `conversation ${id}`, ({ store, me }) => readConversation(store, me, id ?? ""));

const noProfilesYet: MemberProfiles = {};

/** Profiles of group members by member number. Unknown members are fetched. */
export const useMemberProfiles = (group: ConversationId | undefined, numbers: readonly number[]): MemberProfiles => {
  const key = `${group} ${numbers.join()}`;
  const sync = useEngine();
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
  // Keep the previous profiles while more are read.
  if (known) last.current = known;
  return known ?? last.current;
};

export type GroupMembersState = {
  /** The complete list; undefined before this device had it once. */
  members: MemberRow[] | undefined;
  /** Whether all roles are of the same moment; otherwise some may be outdated. */
  areRolesKnown: boolean;
  state: "loading" | "ready" | "failed";
  code?: FailureCode;
  refetch(): void;
};

/**
 * All members of a group: the stored list at once, then the list of `membersVersion`. The previous list stays while
 * changes are fetched. A failed fetch is repeated by itself, or at once by `refetch`.
 */
export const useGroupMembers = (group: ConversationId, membersVersion: number | undefined): GroupMembersState => {
  const sync = useEngine();
  const isOnline = useLinkState() === "online";
  const [tries, setTries] = useState(0);
  const [failure, setFailure] = useState<FailureCode>();
  const held = useLiveQuery(`members ${group}`, ({ store, me }) => readMembers(store, me, group));
  const isCurrent = held !== undefined && membersVersion !== undefined && held.roster >= membersVersion;
  const isOutdated = held !== undefined && membersVersion !== undefined && !isCurrent;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `tries` repeats the request
  useEffect(() => {
    const context = sync?.tab.context.get();
    if (!context || !isOutdated || !isOnline) return;
    setFailure(undefined);
    return syncMemberListWithRetry(context, group, setFailure);
  }, [sync, group, membersVersion, held?.roster, isOutdated, isOnline, tries]);
  const refetch = useCallback(() => setTries((before) => before + 1), []);
  const state = isCurrent ? "ready" : failure !== undefined ? "failed" : "loading";
  const lastCurrent = useRef<{ group: ConversationId; members: MemberRow[] }>(undefined);
  if (isCurrent) lastCurrent.current = { group, members: held.members };
  const last = lastCurrent.current?.group === group ? lastCurrent.current.members : undefined;
  const members = last ?? (held && held.roster > 0 ? held.members : undefined);
  const areRolesKnown = last !== undefined;
  return { members, areRolesKnown, state, ...(failure === undefined ? {} : { code: failure }), refetch };
};

/** A person known to this device; null for an unknown person. */
export const usePerson = (id: Uuid | undefined): PersonRow | null | undefined =>
  useLiveQuery(id && `person ${id}`, async ({ store }) => (await store.people.get(id ?? "")) ?? null);

/** Last known profile of a current or former group member, as strangers see it; null for an unknown person. */
export const useMember = (id: Uuid | undefined): PersonRow | null | undefined =>
  useLiveQuery(id && `member ${id}`, ({ store }) => readLastKnownProfile(store, id ?? ""));

export const useContacts = (): PersonRow[] | undefined => useLiveQuery("contacts", ({ store }) => readContacts(store));

export const useRequests = (): { received: PersonRow[]; sent: PersonRow[] } | undefined =>
  useLiveQuery("requests", ({ store }) => readContactRequests(store));

/** Bytes used by calls on this device, by call id. */
export const useCallDataUse = (): CallDataUse | undefined =>
  useLiveQuery("call uses", ({ store }) => readCallDataUse(store));

/** Call entry of a call that ended a moment ago; undefined until it arrives. */
export const useCallEntry = (conversation: ConversationId, call: Uuid): CallBody | undefined =>
  useLiveQuery(`call ${conversation} ${call}`, ({ store }) => findCallEntry(store, conversation, call), false);

/** People whom this person has blocked. */
export const useBlockedPeople = (): PersonRow[] | undefined =>
  useLiveQuery("blocked", ({ store }) => readBlockedPeople(store));

/** Progress of an own upload; undefined once it is finished. */
export const useUpload = (file: Uuid | undefined): UploadView | undefined =>
  useLiveQuery(file && `upload ${file}`, async ({ store }) => toUploadView(await store.uploads.get(file ?? "")));

/** Text draft of a conversation, typed in any tab; empty if there is none. */
export const useTextDraft = (id: ConversationId): string | undefined =>
  useLiveQuery(`draft ${id}`, ({ store }) => readTextDraft(store, id));

/** Files and recording of a conversation that were not sent, from any tab. */
export const useUnsentContent = (id: ConversationId): UnsentContent | undefined =>
  useLiveQuery(`left over ${id}`, ({ store }) => readUnsentContent(store, id));

/** Whether a conversation has an unsent voice recording from any tab. All rows of a list share one query. */
export const useHasVoiceDraft = (id: ConversationId): boolean =>
  useLiveQuery("recorded", async ({ store }) =>
    (await store.recordings.toCollection().primaryKeys()).map(toDraftTarget),
  )?.includes(id) ?? false;

/** Unsent data that a sign-out would delete. */
export const useUnsentSummary = (): UnsentSummary | undefined => useLiveQuery("unsent", readUnsentSummary);

/** The own profile; null before it was fetched once. */
export const useOwnProfile = (): PersonRow | null | undefined =>
  useLiveQuery("me", ({ store }) => readOwnProfile(store));

/**
 * The newest messages of a conversation. `loadOlder` shows one more page and fetches it from the server once all stored
 * messages are shown; it rejects with a SyncError.
 */
export const useChat = (id: ConversationId | undefined): ChatView | undefined => {
  const [window, setWindow] = useState({ id, limit: messagePageRows });
  const limit = window.id === id ? window.limit : messagePageRows;
  const [isLoading, setIsLoading] = useState(false);
  const sync = useEngine();
  // A longer window is never reused, so it is not kept alive: otherwise many of them would be read at each new page.
  const keepsAlive = limit === messagePageRows;
  const chat = useLiveQuery(id && `chat ${id} ${limit}`, ({ store }) => readChat(store, id ?? "", limit), keepsAlive);
  const [shown, setShown] = useState({ id, chat });
  // Keep the shorter window while a longer one is read.
  if (chat && (shown.chat !== chat || shown.id !== id)) setShown({ id, chat });
  const current = chat ?? (shown.id === id ? shown.chat : undefined);
  // The previous window does not say whether more is needed; with it the limit would grow faster than reads finish.
  const isReading = chat === undefined;

  useEffect(() => {
    if (sync && id) sync.tab.prioritizeConversation(id);
  }, [sync, id]);

  const hasMoreLocally = current?.hasMoreLocally ?? false;
  const hasMoreOnServer = current?.hasMoreOnServer ?? false;
  const loadOlder = useCallback(async () => {
    if (!sync || !id || isReading || (!hasMoreLocally && !hasMoreOnServer)) return;
    setIsLoading(true);
    try {
      if (!hasMoreLocally) await fetchOlderMessages(sync.tab, id);
      setWindow((before) => ({ id, limit: (before.id === id ? before.limit : messagePageRows) + messagePageRows }));
    } finally {
      setIsLoading(false);
    }
  }, [sync, id, isReading, hasMoreLocally, hasMoreOnServer]);

  return useMemo(
    () =>
      current && {
        items: current.items,
        hasOlder: hasMoreLocally || hasMoreOnServer,
        loading: isLoading || isReading || current.isNotLoadedYet,
        loadOlder,
      },
    [current, hasMoreLocally, hasMoreOnServer, isLoading, isReading, loadOlder],
  );
};

const loadingFile: Omit<FileView, "load"> = { url: undefined, state: "loading" };

/**
 * A file of a message, from this device or after a download. `url` is valid while the hook is mounted. The state is
 * "loading" until the store was read.
 */
export const useFile = (conversation: ConversationId, { file, mime, size }: AttachedBody): FileView => {
  const sync = useEngine();
  const cachedFile = useMemo(() => sync?.objectUrls.get({ file, mime, size }), [sync, file, mime, size]);
  const shown = useSyncExternalStore(
    cachedFile?.subscribe ?? emptySource.subscribe,
    () => cachedFile?.get() ?? loadingFile,
  );
  return useMemo(() => ({ ...shown, load: () => cachedFile?.load(conversation) }), [shown, cachedFile, conversation]);
};

const noTypingMembers: readonly number[] = [];

/** Numbers of the members typing in a conversation, in the order they started. */
export const useTypingMembers = (conversation: ConversationId): readonly number[] => {
  const sync = useEngine();
  const members = sync?.tab.typing.members;
  return useSyncExternalStore(
    members?.subscribe ?? emptySource.subscribe,
    () => members?.get().get(conversation) ?? noTypingMembers,
    () => noTypingMembers,
  );
};

const disconnectedLink = { get: (): LinkState => "connecting", subscribe: emptySource.subscribe };

/** State of the connection to the server. */
export const useLinkState = (): LinkState => {
  const sync = useEngine();
  const link = sync?.tab.link ?? disconnectedLink;
  return useSyncExternalStore<LinkState>(link.subscribe, link.get, () => "connecting");
};

/** Trouble with the local storage; undefined if there is none. */
export const useStorageTrouble = (): StorageTrouble | undefined => {
  const sync = useEngine();
  const trouble = sync?.tab.storageTrouble ?? emptySource;
  return useSyncExternalStore<StorageTrouble | undefined>(trouble.subscribe, trouble.get, () => undefined);
};
