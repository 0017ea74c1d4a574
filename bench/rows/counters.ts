import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Conversation, UserChannel } from "#worker/index.ts";
import type { Counts } from "./counts.ts";

type Cursor = { readonly rowsRead: number; readonly rowsWritten: number };
type Method = (...values: unknown[]) => unknown;
type Methods = Record<string, Method>;

let rowsRead = 0;
let rowsWritten = 0;
let metas: { rows_read: number; rows_written: number }[] = [];
let counts = { alarmsSet: 0, alarmsRun: 0, objectRequests: 0, framesIn: 0, kvReads: 0, kvWrites: 0 };

/** Replaces a method by one that also reports its result. */
function observeMethod(owner: object, name: string, report: (result: unknown) => void): void {
  const methods = owner as Methods;
  const original = methods[name];
  if (!original) throw new Error(`There is no method ${name} to observe`);
  methods[name] = function (this: unknown, ...values: unknown[]) {
    const result = original.apply(this, values);
    report(result);
    return result;
  };
}

/** Stub whose calls are counted. */
function countCalls(stub: object): object {
  return new Proxy(stub, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || typeof name === "symbol") return value;
      return (...values: unknown[]) => {
        counts.objectRequests++;
        return Reflect.apply(value, target, values) as unknown;
      };
    },
  });
}

/** A cursor counts rows while it is read, which the objects do synchronously; only its own object may access it. */
function addRows(cursor: Cursor): void {
  queueMicrotask(() => {
    rowsRead += cursor.rowsRead;
    rowsWritten += cursor.rowsWritten;
  });
}

/** Uncounted stubs, which the runtime's test functions require. */
export let plainConversation = (id: string): DurableObjectStub => env.CONVERSATION.getByName(id);
export let plainChannel = (user: string): DurableObjectStub => env.USER_CHANNEL.getByName(user);

/**
 * Counts for all objects and D1 of this runtime by patching their shared prototypes, without changes to the product.
 */
export async function startCounting(): Promise<void> {
  await runInDurableObject(env.CONVERSATION.getByName("counters"), (_instance, state) => {
    observeMethod(Object.getPrototypeOf(state.storage.sql) as object, "exec", (cursor) => addRows(cursor as Cursor));
    const storage = Object.getPrototypeOf(state.storage) as object;
    observeMethod(storage, "setAlarm", () => void counts.alarmsSet++);
    for (const name of ["get", "list"]) observeMethod(storage, name, () => void counts.kvReads++);
    for (const name of ["put", "delete"]) observeMethod(storage, name, () => void counts.kvWrites++);
  });
  for (const kind of [Conversation, UserChannel]) {
    if ("alarm" in kind.prototype) observeMethod(kind.prototype, "alarm", () => void counts.alarmsRun++);
    if ("webSocketMessage" in kind.prototype)
      observeMethod(kind.prototype, "webSocketMessage", () => void counts.framesIn++);
  }
  observeMethod(Object.getPrototypeOf(env.DB.withSession()) as object, "_sendOrThrow", (result) => {
    void (result as Promise<unknown>).then((answer) => {
      for (const one of [answer].flat() as { meta: (typeof metas)[number] }[]) metas.push(one.meta);
    });
  });
  const namespace = Object.getPrototypeOf(env.CONVERSATION) as Methods;
  const [conversations, channels]: unknown[] = [env.CONVERSATION, env.USER_CHANNEL];
  const getByName = namespace["getByName"];
  plainConversation = (id) => getByName?.call(conversations, id) as DurableObjectStub;
  plainChannel = (user) => getByName?.call(channels, user) as DurableObjectStub;
  for (const name of ["get", "getByName"]) {
    const original = namespace[name];
    if (!original) continue;
    namespace[name] = function (this: unknown, ...values: unknown[]) {
      return countCalls(original.apply(this, values) as object);
    };
  }
}

const sumBy = <T>(list: T[], toNumber: (one: T) => number): number =>
  list.reduce((total, one) => total + toNumber(one), 0);

/** Returns and resets the counts. */
export function consumeCounts(): Counts {
  const { alarmsSet, alarmsRun, objectRequests, framesIn, kvReads, kvWrites } = counts;
  const consumed = {
    objectRowsRead: rowsRead + kvReads,
    objectRowsWritten: rowsWritten + kvWrites + alarmsSet,
    d1RowsRead: sumBy(metas, (meta) => meta.rows_read),
    d1RowsWritten: sumBy(metas, (meta) => meta.rows_written),
    alarmsSet,
    alarmsRun,
    objectRequests,
    framesIn,
  };
  rowsRead = 0;
  rowsWritten = 0;
  metas = [];
  counts = { alarmsSet: 0, alarmsRun: 0, objectRequests: 0, framesIn: 0, kvReads: 0, kvWrites: 0 };
  return consumed;
}
