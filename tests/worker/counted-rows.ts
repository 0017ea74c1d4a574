import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

type Cursor = { readonly rowsRead: number; readonly rowsWritten: number };

/** From now on, every row that any object of this runtime reads or writes is counted here. */
export const countRows = async (): Promise<{ read: number; written: number }> => {
  const counted = { read: 0, written: 0 };
  // Every statement of every object goes by this prototype. Only its own object may ask a cursor.
  await runInDurableObject(env.CONVERSATION.getByName("any"), (_, { storage }) => {
    const prototype = Object.getPrototypeOf(storage.sql) as { exec: (...values: unknown[]) => Cursor };
    const { exec } = prototype;
    prototype.exec = function (...values) {
      const cursor = exec.apply(this, values);
      queueMicrotask(() => {
        counted.read += cursor.rowsRead;
        counted.written += cursor.rowsWritten;
      });
      return cursor;
    };
  });
  return counted;
};
