import { env } from "cloudflare:workers";
import { type Answer, type Call, callSite } from "#tests/support/people/people.ts";
import { api } from "#worker/api.ts";
import type { ConversationRpc } from "#worker/objects/rpc/conversation-rpc.ts";
import type { UserChannelRpc } from "#worker/objects/rpc/user-channel-rpc.ts";
import { site } from "./site.ts";

/** Settings that no local server has (worker/calls/relay-settings.ts, worker/auth/second-factor/secret-box.ts, worker/lib/number-adapters.ts). */
type Setting =
  | "LOCAL_LIMIT_FACTOR"
  | "FACTOR_KEY_NEXT"
  | "NUMBER_PROOFS"
  | "NUMBER_PROOF_SECRETS"
  | "RELAY"
  | "STUN_URLS"
  | "TURN_HOST"
  | "TURN_SECRET"
  | "TURN_KEY_ID"
  | "TURN_KEY_TOKEN";
type ChangedBindings = Partial<Record<keyof Env | Setting, unknown>>;

/** Calls the API with some bindings replaced, and waits for work after the answer. */
const fetchWith = async (changed: ChangedBindings, url: string, init: RequestInit): Promise<Response> => {
  const after: Promise<unknown>[] = [];
  const context = {
    waitUntil: (work: Promise<unknown>) => after.push(work),
    passThroughOnException: () => undefined,
    props: {},
  };
  const response = await api.fetch(
    new Request(url, init),
    // Getters stay getters, so that a test can count how often a binding is read.
    Object.defineProperties({ ...env }, Object.getOwnPropertyDescriptors(changed)) as unknown as Env,
    context as unknown as ExecutionContext,
  );
  for (let work = after.shift(); work; work = after.shift()) await work;
  return response;
};

/** Sends a request with replaced bindings and a body that is not JSON. */
export const callRawWith = (changed: ChangedBindings, path: string, init: RequestInit): Promise<Response> =>
  fetchWith(changed, site.origin + path, init);

export const callWith = (changed: ChangedBindings, method: string, path: string, options?: Call): Promise<Answer> =>
  callSite({ origin: site.origin, fetch: (url, init) => fetchWith(changed, url, init) }, method, path, options);

type RpcMethods = Partial<Record<keyof ConversationRpc | keyof UserChannelRpc, (...args: never[]) => unknown>>;

/** Namespace whose objects have these methods overridden. A function returns the methods of an object by its name. */
export const overrideMethods = <T extends object>(
  namespace: { getByName(name: string): T },
  overridden: RpcMethods | ((name: string) => RpcMethods),
) => ({
  getByName: (name: string): T => {
    const stub = namespace.getByName(name);
    const methods = typeof overridden === "function" ? overridden(name) : overridden;
    return new Proxy(stub, {
      get: (target, key) => (Object.hasOwn(methods, key) ? Reflect.get(methods, key) : Reflect.get(target, key)),
    });
  },
});

/** Calls the API with the limits of production, which tests otherwise raise. */
export const callWithLimits = (method: string, path: string, options?: Call): Promise<Answer> =>
  callWith({ LOCAL_LIMIT_FACTOR: "1" }, method, path, options);
