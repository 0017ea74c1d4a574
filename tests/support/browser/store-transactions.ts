import type { Page } from "@playwright/test";

/** Transaction of the local databases: what it covers, how many requests it made, and who opened it. */
export type StoreTransaction = { mode: string; stores: string; requests: number; openedBy: string };

/**
 * Records the IndexedDB transactions of this page's next documents, until the app has replaced the first view. Opening a
 * database counts as one: the browser and Dexie do so in transactions of their own.
 */
export const recordStoreTransactions = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const transactions: StoreTransaction[] = [];
    let isOver = false;
    Object.assign(window, { storeTransactions: transactions });
    new MutationObserver(() => {
      const container = document.getElementById("first-view");
      if (document.readyState !== "loading" && !container?.firstElementChild) isOver = true;
    }).observe(document, { childList: true, subtree: true });
    const findOpener = () =>
      (new Error().stack ?? "")
        .split("\n")
        .map((line) => /at (.+) \(.*\/assets\/(?!app-vendor)(.+?)-/.exec(line))
        .flatMap((match) => (match ? `${match[2]}:${match[1]}` : []))
        .slice(0, 4)
        .join(" < ");
    const records = new WeakMap<IDBTransaction, StoreTransaction>();
    const open = IDBDatabase.prototype.transaction;
    IDBDatabase.prototype.transaction = function (stores, mode, options) {
      const transaction = open.call(this, stores, mode, options);
      if (!isOver) {
        const record = {
          mode: mode ?? "readonly",
          stores: [...transaction.objectStoreNames].join(" "),
          requests: 0,
          openedBy: findOpener(),
        };
        records.set(transaction, record);
        transactions.push(record);
      }
      return transaction;
    };
    for (const { prototype } of [IDBObjectStore, IDBIndex])
      for (const name of Object.getOwnPropertyNames(prototype)) {
        const method: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
        if (typeof method !== "function" || !/^(get|put|add|delete$|count|openCursor|openKeyCursor|clear)/.test(name))
          continue;
        Reflect.set(prototype, name, function (this: IDBObjectStore | IDBIndex, ...args: unknown[]) {
          const store = "objectStore" in this ? this.objectStore : this;
          const record = records.get(store.transaction);
          if (record) record.requests++;
          return method.apply(this, args);
        });
      }
  });

export const readStoreTransactions = (page: Page): Promise<StoreTransaction[]> =>
  page.evaluate(() => Reflect.get(window, "storeTransactions"));
