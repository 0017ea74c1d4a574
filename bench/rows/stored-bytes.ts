import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

type Method = (...values: unknown[]) => unknown;

let d1Bytes = 0;
let objectsPut = 0;
let bytesPut = 0;

function observeMethod(owner: object, name: string, report: (result: unknown) => void): void {
  const methods = owner as Record<string, Method>;
  const original = methods[name];
  if (!original) throw new Error(`There is no method ${name} to observe`);
  methods[name] = function (this: unknown, ...values: unknown[]) {
    const result = original.apply(this, values);
    report(result);
    return result;
  };
}

/** Records the reported size of D1 and the bytes put into R2, by patching their prototypes. */
export function startCountingBytes(): void {
  observeMethod(Object.getPrototypeOf(env.DB.withSession()) as object, "_sendOrThrow", (result) => {
    void (result as Promise<unknown>).then((answer) => {
      for (const one of [answer].flat() as { meta: { size_after?: number } }[])
        d1Bytes = one.meta.size_after ?? d1Bytes;
    });
  });
  observeMethod(Object.getPrototypeOf(env.FILES) as object, "put", (result) => {
    void (result as Promise<R2Object | null>).then((stored) => {
      objectsPut += stored ? 1 : 0;
      bytesPut += stored?.size ?? 0;
    });
  });
}

export type StoredBytes = { d1: number; objects: number; r2: number; r2Puts: number };

/** Stored bytes: all of D1, the given objects, and everything put into R2 since the start. */
export async function readStoredBytes(stubs: readonly DurableObjectStub[]): Promise<StoredBytes> {
  await env.DB.prepare("SELECT 1").run();
  let objects = 0;
  for (const stub of stubs) {
    objects += await runInDurableObject(stub, (_instance, { storage }) => storage.sql.databaseSize);
  }
  return { d1: d1Bytes, objects, r2: bytesPut, r2Puts: objectsPut };
}
