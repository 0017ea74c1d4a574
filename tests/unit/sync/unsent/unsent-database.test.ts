import { IDBDatabase, IDBFactory } from "fake-indexeddb";
import { afterEach, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import {
  deleteUnsentDatabase,
  toPromise,
  toUnsentName,
  UnsentDatabase,
  type UnsentEvents,
  type UnsentSchema,
  unsentKeys,
} from "#lib/unsent/unsent-database.ts";
import { eventually } from "#tests/support/eventually.ts";

const chat = createUuid();
const row = { conversation: chat, text: "Mbote" };
const opened: UnsentDatabase[] = [];

const makeDevice = () => {
  const [user, indexedDB] = [createUuid(), new IDBFactory()];
  const environment = { indexedDB, openChannel: (name: string) => new BroadcastChannel(name) };
  const open = (events?: UnsentEvents, schema?: UnsentSchema) => {
    const database = new UnsentDatabase(user, environment, events, schema);
    opened.push(database);
    return database;
  };
  return { user, indexedDB, open };
};

const put = (database: UnsentDatabase, value: object = row) =>
  database.write(["drafts"], async (access) => void (await toPromise(access("drafts").put(value))));
const readAll = (database: UnsentDatabase): Promise<unknown[]> =>
  database.read(["drafts"], (access) => toPromise(access("drafts").getAll()));

afterEach(() => {
  vi.restoreAllMocks();
  for (const database of opened.splice(0)) database.close();
});

it("a write is committed with strict durability, and another user of the database reads it", async () => {
  const { open } = makeDevice();
  const transact = vi.spyOn(IDBDatabase.prototype, "transaction");
  const database = open();
  await readAll(database);
  transact.mockClear();
  await put(database);
  expect(transact.mock.calls).toEqual([[["drafts"], "readwrite", { durability: "strict" }]]);
  expect(await readAll(open())).toEqual([row]);
});

it("an opening that fails, even at once, is tried again by the next transaction", async () => {
  const { indexedDB, open } = makeDevice();
  vi.spyOn(indexedDB, "open").mockImplementationOnce(() => {
    throw new DOMException("broken profile", "UnknownError");
  });
  const database = open();
  await expect(readAll(database)).rejects.toMatchObject({ name: "UnknownError" });
  await put(database);
  expect(await readAll(database)).toEqual([row]);
});

it("a write that fails changes nothing and is not announced", async () => {
  const { open } = makeDevice();
  const [database, onChange] = [open(), vi.fn()];
  open({ onChange });
  const failed = database.write(["drafts"], async (access) => {
    await toPromise(access("drafts").put(row));
    throw new Error("half way");
  });
  await expect(failed).rejects.toThrow("half way");
  const refused = database.write(["drafts"], async (access) => {
    await toPromise(access("drafts").put(row));
    await toPromise(access("drafts").add(row));
  });
  await expect(refused).rejects.toMatchObject({ name: "ConstraintError" });
  expect(await readAll(database)).toEqual([]);
  expect(onChange).not.toHaveBeenCalled();
});

it("a commit is announced to the other users with its tables, and not to the writer", async () => {
  const { open } = makeDevice();
  const [onChange, onOwnChange] = [vi.fn(), vi.fn()];
  open({ onChange });
  await put(open({ onChange: onOwnChange }));
  await eventually(() => expect(onChange.mock.calls).toEqual([[["drafts"]]]));
  expect(onOwnChange).not.toHaveBeenCalled();
});

it("a deletion by another page does not wait, is reported, and the next write creates the database again", async () => {
  const { user, indexedDB, open } = makeDevice();
  const onLost = vi.fn();
  const database = open({ onLost });
  await put(database);
  await deleteUnsentDatabase(user, indexedDB);
  expect(onLost).toHaveBeenCalledTimes(1);
  expect(await readAll(database)).toEqual([]);
  await put(database);
  expect(await readAll(database)).toEqual([row]);
});

it("a later version of the app keeps the rows, and a page of this version goes on", async () => {
  const { open, indexedDB, user } = makeDevice();
  const onLost = vi.fn();
  const present = open({ onLost });
  await put(present);
  const next = open({}, { version: 99, keys: { ...unsentKeys, later: "cid" } });
  expect(await readAll(next)).toEqual([row]);
  expect((await indexedDB.databases()).find(({ name }) => name === toUnsentName(user))?.version).toBe(99);
  await put(present, { ...row, text: "Mbote na yo" });
  expect(await readAll(next)).toEqual([{ ...row, text: "Mbote na yo" }]);
  expect(onLost).not.toHaveBeenCalled();
});

it("a database of the version before, which had drafts only, keeps them and gets the other tables", async () => {
  const { open } = makeDevice();
  const before = open({}, { version: 1, keys: { drafts: "conversation" } });
  await put(before);
  const present = open();
  expect(await readAll(present)).toEqual([row]);
  const message = { cid: createUuid() };
  await present.write(["outbox", "reads"], async (access) => {
    await toPromise(access("outbox").put(message));
    await toPromise(access("reads").put({ conversation: chat, head: 1 }));
  });
  expect(await present.read(["outbox"], (access) => toPromise(access("outbox").getAll()))).toEqual([message]);
  await put(before, { ...row, text: "Mbote na yo" }); // a page of that version goes on
  expect(await readAll(present)).toEqual([{ ...row, text: "Mbote na yo" }]);
});

it("a closed database rejects what follows, and does not delay a deletion", async () => {
  const { open, indexedDB, user } = makeDevice();
  const database = open();
  await put(database);
  database.close();
  await expect(put(database)).rejects.toMatchObject({ name: "InvalidStateError" });
  await deleteUnsentDatabase(user, indexedDB);
  expect(await indexedDB.databases()).toEqual([]);
});
