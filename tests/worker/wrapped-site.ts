import { env } from "cloudflare:workers";
import { api } from "../../worker/api";
import { type Answer, type Call, callSite } from "../support/people";
import { site } from "./site";

/** The API with some of its bindings replaced, and its work after the answer waited for. */
export const callWith = async (
  changed: Partial<Record<keyof Env, unknown>>,
  method: string,
  path: string,
  options?: Call,
): Promise<Answer> => {
  const after: Promise<unknown>[] = [];
  const context = {
    waitUntil: (work: Promise<unknown>) => after.push(work),
    passThroughOnException: () => undefined,
    props: {},
  };
  const fetch = async (url: string, init: RequestInit) =>
    api.fetch(new Request(url, init), { ...env, ...changed } as unknown as Env, context as unknown as ExecutionContext);
  const answer = await callSite({ origin: site.origin, fetch }, method, path, options);
  for (let work = after.shift(); work; work = after.shift()) await work;
  return answer;
};

/** A namespace whose objects have these methods instead of their own. */
export const objectsWith = <T extends object>(namespace: { getByName(name: string): T }, methods: object) => ({
  getByName: (name: string): T => {
    const stub = namespace.getByName(name);
    return new Proxy(stub, {
      get: (target, key) => (Object.hasOwn(methods, key) ? Reflect.get(methods, key) : Reflect.get(target, key)),
    });
  },
});
