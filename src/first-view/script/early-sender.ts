import { personHeader, sessionTransportHeader } from "#contract/auth/auth.ts";
import { refreshMarginSeconds } from "#contract/limits/authentication.ts";
import { toBackgroundOutboxName } from "#lib/browser/push/background-sync.ts";
import { sessionLock } from "#lib/session/session-lock.ts";

/** Text sent in a first view. `n`: its place in the journal; `reply`: the message it answers, by seq or client id. */
export type EarlyMessage = { cid: string; text: string; n: number; reply?: number | string };
/** Entry of the journal (`src/sync/store/journal.ts`); `stored` if the server is known to have it. */
type JournalEntry = EarlyMessage & { conversation: string; at: number; stored?: { at: number } };

type EarlySenderOptions = {
  view: HTMLElement;
  user: string;
  conversation: string;
  /** Name of the person's database, and prefix of their keys in localStorage. */
  store: string;
  /** Called with the server's time of a stored message. */
  onStored: (cid: string, at: number) => void;
};

const retryMs = 2_000;

/**
 * Sends the texts of a first view before the app has loaded: one request at a time, in order, under the client ids of
 * the journal, so that the app's repetition is stored once. It sends nothing while this device has an older unsent
 * message in the conversation, or while that is not known; the app then sends everything in order.
 */
export const createEarlySender = ({ view, user, conversation, store, onStored }: EarlySenderOptions) => {
  const sentPrefix = `${store}-sent-`;
  const queue: EarlyMessage[] = [];
  const own = new Set<string>();
  let isSending = false;
  let isRefused = false;

  /** Response body. A refusal ends the early sending: the app explains it. */
  const post = async (path: string, body: object) => {
    const response = await fetch(path, {
      method: "POST",
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        [sessionTransportHeader]: "cookie",
        [personHeader]: user, // another account may have signed in meanwhile
      },
      cache: "no-store",
      keepalive: true, // the page may be left at once
      body: JSON.stringify(body),
    });
    isRefused ||= response.status >= 400 && response.status < 500;
    if (!response.ok) throw new Error(`${response.status}`);
    return response.json();
  };

  /** Whether the session needs a renewal. Throws if it is not this person's. */
  const isNearExpiry = (): boolean => {
    const { userId, expiresAt } = JSON.parse(localStorage["session"]);
    if (userId !== user) throw new Error("session of another person");
    return expiresAt - Date.now() < refreshMarginSeconds * 1_000;
  };

  /** Renews the session near its expiry as `src/lib/session/session-refresh.ts` does, under the same lock. */
  const renewSession = async (): Promise<void> => {
    if (!isNearExpiry()) return;
    await navigator.locks.request(sessionLock, async () => {
      if (!isNearExpiry()) return;
      const session = await post("/api/auth/token?grant_type=refresh_token", {});
      if (session.user.id !== user || session.awaits) throw new Error("session of another person");
      const expiresAt = Date.now() + session.expires_in * 1_000;
      localStorage.setItem("session", JSON.stringify({ userId: user, expiresAt, event: "TOKEN_REFRESHED" }));
    });
  };

  type OutboxRow = { cid: string; conversation: string; state: string };
  const readOutbox = (): Promise<OutboxRow[]> =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open(store);
      opening.onerror = reject;
      opening.onupgradeneeded = () => opening.transaction?.abort(); // deleted just now: only the app creates it
      opening.onsuccess = () => {
        try {
          const reading = opening.result.transaction("outbox").objectStore("outbox").getAll();
          reading.onsuccess = () => resolve(reading.result);
          reading.onerror = reject;
        } catch (error) {
          reject(error); // of another version
        } finally {
          opening.result.close(); // after the read
        }
      };
    });

  /** Texts of this conversation in the journal, in the order of writing. */
  const listJournaled = (): JournalEntry[] =>
    Object.keys(localStorage)
      .flatMap((key) => {
        if (!key.startsWith(sentPrefix)) return [];
        const entry = JSON.parse(localStorage[key]);
        return entry.conversation === conversation ? [{ ...entry, cid: key.slice(sentPrefix.length) }] : [];
      })
      .sort((a, b) => a.n - b.n);

  /**
   * Messages in the outbox of the local database; undefined while the app rebuilds it or takes over messages of the
   * service worker.
   */
  const findOutbox = async (): Promise<OutboxRow[] | undefined> => {
    const names = (await indexedDB.databases()).map(({ name }) => name);
    if (names.includes(`${store}-backup`) || names.includes(toBackgroundOutboxName(user))) return undefined;
    return names.includes(store) ? readOutbox() : [];
  };

  /** Whether a message of another page must go first: it is in the outbox, or earlier in the journal. */
  const hasOlderUnsent = async (n: number): Promise<boolean> => {
    const rows = await findOutbox();
    if (!rows) return true;
    const isQueued = (row: OutboxRow) => row.conversation === conversation && row.state === "queued";
    const journaled = listJournaled().filter(({ stored }) => !stored);
    const passable = new Set([
      ...own,
      ...rows.filter((row) => !isQueued(row)).map(({ cid }) => cid),
      ...journaled.filter((entry) => entry.n > n).map(({ cid }) => cid),
    ]);
    return [...rows.filter(isQueued), ...journaled].some(({ cid }) => !passable.has(cid));
  };

  /** Notes in the journal where the server stored a message, so that the app shows it at once and does not send it. */
  const noteStored = (cid: string, place: { epoch: string; seq: number; at: number }): void => {
    const key = sentPrefix + cid;
    const entry = localStorage.getItem(key); // absent if the app has sent it meanwhile
    if (entry) localStorage.setItem(key, JSON.stringify({ ...JSON.parse(entry), stored: place }));
  };

  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    try {
      while (queue[0] && !isRefused && view.isConnected) {
        const { cid, text, n, reply } = queue[0];
        await renewSession();
        if (localStorage.getItem(sentPrefix + cid) === null) {
          queue.shift(); // another tab has taken it over
          continue;
        }
        if ((await hasOlderUnsent(n)) || !view.isConnected) break;
        const { epoch, sent } = await post(`/api/conversations/${conversation}/messages`, {
          messages: [{ cid, body: { type: "text", text, reply } }],
        });
        const { seq, at } = sent[0];
        queue.shift();
        onStored(cid, at);
        noteStored(cid, { epoch, seq, at });
        view.dispatchEvent(new Event("stored")); // the app may have taken over
      }
    } catch {
      setTimeout(send, retryMs); // no network, or storage is forbidden
    }
    isSending = false;
  };

  addEventListener("storage", ({ key }) => {
    if (key?.startsWith(sentPrefix)) void send(); // another tab has sent an older message
  });
  if (conversation) void renewSession().catch(() => undefined); // before the first message needs it

  const enqueue = (message: EarlyMessage): void => {
    // Only the app knows the members of a group whom a text may mention. Later texts wait for it, as they do for a
    // message that answers another unsent one.
    if ((message.text.includes("@") && !conversation.includes(".")) || typeof message.reply === "string") return;
    own.add(message.cid);
    queue.push(message);
    queue.sort((a, b) => a.n - b.n);
  };

  return {
    add(message: EarlyMessage): void {
      enqueue(message);
      void send();
    },
    /**
     * Continues with the texts that an earlier page left in the journal. Those in the outbox are the app's: it may have
     * reported them as failed. `isShown`: whether the document contains a message; all others are passed to `show`.
     */
    async resume(isShown: (cid: string) => boolean, show: (entry: JournalEntry) => void): Promise<void> {
      try {
        const rows = await findOutbox();
        if (!rows) return;
        const others = new Set([...own, ...rows.map(({ cid }) => cid)]);
        for (const entry of listJournaled()) {
          const { cid, at, stored } = entry;
          if (others.has(cid) || at > performance.timeOrigin) continue; // written since in another tab, which sends it
          if (isShown(cid)) own.add(cid);
          else {
            show(entry);
            if (!stored) enqueue(entry);
          }
        }
        void send();
      } catch {
        // Storage is forbidden, or an entry is unreadable: the app shows and sends them.
      }
    },
  };
};
