import { createUuid } from "#contract/ids.ts";
import { type TableAccess, toPromise, UnsentDatabase, type UnsentTable } from "#lib/unsent/unsent-database.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";

/** Message that another one answers, by its place (`ReplyPlace` of the contract) or its client id. */
export type Reply = number | string;

/** Row of the table `drafts`, as far as this script reads it. The app defines it (`src/sync/unsent/draft-row.ts`). */
export type EarlyDraftRow = {
  conversation: string;
  text: string;
  at: number;
  reply?: Reply;
  unshared?: unknown;
  shared?: unknown;
  parked?: unknown;
};

/** Row of the table `outbox`, as far as this script reads it. The app defines it (`src/sync/unsent/outbox-row.ts`). */
export type EarlyMessage = {
  cid: string;
  conversation: string;
  order: number;
  body: { type: string; text: string; reply?: Reply };
  state: string;
  attempts: number;
  createdAt: number;
  at: number;
  replyTo?: string;
  mayMention?: true;
  sent?: { at: number };
};

const chatTables: readonly UnsentTable[] = ["drafts", "outbox"];

export type UnsentOfChat = { draft: EarlyDraftRow | undefined; messages: readonly EarlyMessage[] };

const findStorage = (): Storage | undefined => {
  try {
    return localStorage;
  } catch {
    return undefined; // denied
  }
};

const openChannel = (name: string): BroadcastChannel | undefined => {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined; // denied, or a browser without it
  }
};

/**
 * Unsent data of a first view's conversation: the journal, which is written at once, and the database. `data-writer` of
 * the view identifies the entries of this page.
 */
export class EarlyUnsent {
  readonly writer = createUuid();
  readonly journal: UnsentJournal;
  readonly #database: UnsentDatabase | undefined;
  readonly #conversation: string;
  readonly #listeners = new Set<() => void>();

  constructor(view: HTMLElement, user: string, conversation: string) {
    view.dataset["writer"] = this.writer;
    this.#conversation = conversation;
    this.journal = new UnsentJournal(user, findStorage(), this.writer);
    try {
      const onChange = () => {
        for (const listener of this.#listeners) listener();
      };
      this.#database = new UnsentDatabase(user, { indexedDB, openChannel }, { onChange });
    } catch {
      // Denied: the journal holds what is written, and the app reports it.
    }
  }

  /** Calls the listener when another page or the service worker has changed unsent data. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Reads draft and messages of the conversation, in one transaction; undefined if that is not possible. */
  async read(): Promise<UnsentOfChat | undefined> {
    const read = this.#database?.read(chatTables, (access) => this.#readChat(access));
    return read?.catch(() => undefined); // the app reports a database that does not work
  }

  /** As `read`, at the start of the page: commits before what the pages before have left in the journal. */
  async open(): Promise<UnsentOfChat | undefined> {
    if (this.#listLeft().length === 0) return this.read();
    const opened = this.#database?.write(chatTables, async (access) => {
      await this.#commitLeft(access);
      return this.#readChat(access);
    });
    return opened?.catch(() => this.read());
  }

  /**
   * Commits a sent message, and the draft that it leaves, unless another page has changed the draft since `seenAt`.
   * Resolves to whether it is on the disk.
   */
  async commit(message: EarlyMessage, left: EarlyDraftRow | undefined, seenAt: number | undefined): Promise<boolean> {
    const commit = this.#database?.write(chatTables, async (access) => {
      const drafts = access("drafts");
      await this.#commitLeft(access);
      await toPromise(access("outbox").put(message));
      const committed = await toPromise<EarlyDraftRow | undefined>(drafts.get(this.#conversation));
      if (!committed || committed.at !== seenAt) return;
      if (left) await toPromise(drafts.put(left));
      else await toPromise(drafts.delete(this.#conversation));
    });
    if (!commit) return false;
    return commit.then(
      () => true,
      () => false,
    );
  }

  async #readChat(access: TableAccess): Promise<UnsentOfChat> {
    const conversation = this.#conversation;
    const [draft, rows] = await Promise.all([
      toPromise<EarlyDraftRow | undefined>(access("drafts").get(conversation)),
      toPromise<EarlyMessage[]>(access("outbox").getAll()),
    ]);
    const messages = rows.filter((row) => row.conversation === conversation);
    return { draft, messages: messages.sort((a, b) => a.order - b.order) };
  }

  /** Messages of the conversation in the journal of other pages. */
  #listLeft(): EarlyMessage[] {
    return this.journal.list(this.writer).flatMap(({ entry: { table, row } }) => {
      const message = row as EarlyMessage | undefined;
      return table === "outbox" && message?.conversation === this.#conversation ? message : [];
    });
  }

  /** Commits the messages that another page could only write to the journal, so that a later one does not overtake them. */
  async #commitLeft(access: TableAccess): Promise<void> {
    for (const message of this.#listLeft())
      if ((await toPromise(access("outbox").getKey(message.cid))) === undefined)
        await toPromise(access("outbox").put(message));
  }
}
