import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Conversation } from "#worker/objects/conversation.ts";
import type { UserChannel } from "#worker/objects/user-channel.ts";

type Cursor = { readonly rowsRead: number; readonly rowsWritten: number };

type CountedObject = DurableObjectStub<Conversation> | DurableObjectStub<UserChannel>;

/**
 * Counts every row that these objects, or all objects of this runtime, read or write from now on. Files that share a
 * runtime name theirs: objects of other files still run alarms. An object that is evicted is no longer counted.
 */
export const countObjectRows = async (
  objects?: readonly CountedObject[],
): Promise<{ read: number; written: number }> => {
  const counted = { read: 0, written: 0 };
  const databases = new Set<unknown>();
  for (const object of objects ?? []) {
    await runInDurableObject<Conversation | UserChannel, unknown>(object, (_, { storage }) =>
      databases.add(storage.sql),
    );
  }
  // Every statement of every object uses this prototype. Only the cursor's own object may access the cursor.
  await runInDurableObject(env.CONVERSATION.getByName("any"), (_, { storage }) => {
    const prototype = Object.getPrototypeOf(storage.sql) as { exec: (...values: unknown[]) => Cursor };
    const { exec } = prototype;
    prototype.exec = function (...values) {
      const cursor = exec.apply(this, values);
      if (objects && !databases.has(this)) return cursor;
      queueMicrotask(() => {
        counted.read += cursor.rowsRead;
        counted.written += cursor.rowsWritten;
      });
      return cursor;
    };
  });
  return counted;
};

/** Counts the rows that an action reads and writes in the counted objects together. */
export type RowCounter = (action: () => Promise<unknown>) => Promise<{ read: number; written: number }>;

/** Creates the counter of these objects, or of all objects of this runtime. */
export const createRowCounter = async (objects?: readonly CountedObject[]): Promise<RowCounter> => {
  const counted = await countObjectRows(objects);
  return async (action) => {
    const { read, written } = counted;
    await action();
    return { read: counted.read - read, written: counted.written - written };
  };
};

type Answer = { meta: { rows_read: number; rows_written: number } };
type Sending = Record<"_sendOrThrow", (...values: unknown[]) => Promise<Answer | Answer[]>>;

const idleMs = 100;

/**
 * Statements of the directory, and rows that they read and write, during an operation, after earlier statements have
 * ended and until its last one ends.
 */
export const countDirectoryWork = async (
  happens: () => Promise<unknown>,
): Promise<{ statements: number; read: number; written: number }> => {
  const counted = { statements: 0, read: 0, written: 0 };
  const statements = { begun: 0, ended: 0 };
  // Every statement of every database uses this prototype.
  const prototype = Object.getPrototypeOf(env.DB.withSession()) as Sending;
  const { _sendOrThrow: send } = prototype;
  prototype._sendOrThrow = async function (...values) {
    statements.begun += 1;
    const answers = await send.apply(this, values).finally(() => {
      statements.ended += 1;
    });
    for (const { meta } of [answers].flat()) {
      counted.statements += 1;
      counted.read += meta.rows_read;
      counted.written += meta.rows_written;
    }
    return answers;
  };
  try {
    for (let before = -1; before !== statements.begun || statements.ended < before; ) {
      before = statements.begun;
      await scheduler.wait(idleMs);
    }
    Object.assign(counted, { statements: 0, read: 0, written: 0 });
    await happens();
  } finally {
    prototype._sendOrThrow = send;
  }
  return counted;
};

/** Rows of the directory that are read and written during an operation. */
export const countDirectoryRows = async (
  happens: () => Promise<unknown>,
): Promise<{ read: number; written: number }> => {
  const { read, written } = await countDirectoryWork(happens);
  return { read, written };
};
