import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { sendTexts } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";
import { applyMigrations } from "#worker/objects/shared/migrations.ts";
import { toInboxEntry } from "#worker/objects/user-channel/inbox/inbox-columns.ts";
import { userChannelMigrations } from "#worker/objects/user-channel/migrations.ts";
import { channelOf, waitForUnread } from "./push-fixture.ts";

const marksInInbox = 7; // number of the migration that moves the marks

test("marks of the former table are found in the inbox, except those of another log", async () => {
  const { ana, ben, id } = await makePair();
  await sendTexts(ana, id, "un");
  await waitForUnread(ben, id, 1);
  const marks = await runInDurableObject(channelOf(ben), (_, { storage }) => {
    const { sql } = storage;
    const row = sql.exec("SELECT * FROM inbox WHERE conversation = ?", id).one();
    for (const { name } of sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray())
      if (!name.startsWith("_cf_") && !name.startsWith("sqlite_")) sql.exec(`DROP TABLE ${name}`);
    applyMigrations(storage, userChannelMigrations.slice(0, marksInInbox - 1), 0);
    const names = sql.exec("SELECT * FROM inbox").columnNames;
    for (const [n, epoch] of [row["epoch"], "other"].entries()) {
      const copy: Record<string, SqlStorageValue> = { ...row, handle: n + 1, conversation: `c${n}`, bucket: n };
      const values = names.map((name) => copy[name] ?? null);
      sql.exec(`INSERT INTO inbox (${names.join()}) VALUES (${names.map(() => "?").join()})`, ...values);
      sql.exec("INSERT INTO push_marks VALUES (?, ?, ?, ?, ?)", `c${n}`, epoch, '{"phone":1}', 2, 3);
    }
    applyMigrations(storage, userChannelMigrations, marksInInbox - 1);
    const rows = sql.exec<Parameters<typeof toInboxEntry>[0]>("SELECT * FROM inbox ORDER BY handle").toArray();
    return rows.map((stored) => toInboxEntry(stored).pushMark);
  });
  expect(marks).toEqual([{ heads: { phone: 1 }, pushedAt: 2, soundedAt: 3 }, null]);
});
