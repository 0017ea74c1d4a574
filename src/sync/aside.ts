import Dexie, { type Table } from "dexie";
import type { Platform } from "./platform";
import type { OutboxRow } from "./store";

/**
 * Where unsent messages stand while the store they were in is made anew: a store of its own on the same phone,
 * so that a page that dies in the middle leaves them somewhere.
 */
class Aside extends Dexie {
  declare outbox: Table<OutboxRow, string>;

  constructor(platform: Platform, name: string) {
    super(`${name}-unsent`, { ...platform.storage, chromeTransactionDurability: "strict", cache: "disabled" });
    this.version(1).stores({ outbox: "cid" });
  }
}

export const keepAside = async (platform: Platform, name: string, rows: OutboxRow[]): Promise<void> => {
  const aside = new Aside(platform, name);
  try {
    await aside.outbox.bulkPut(rows);
  } finally {
    aside.close();
  }
};

/** What an earlier page could not put back. */
export const readAside = async (platform: Platform, name: string): Promise<OutboxRow[]> => {
  const aside = new Aside(platform, name);
  try {
    return await aside.outbox.toArray();
  } finally {
    aside.close();
  }
};

export const dropAside = async (platform: Platform, name: string): Promise<void> => {
  await new Aside(platform, name).delete();
};
