import { useSyncExternalStore } from "react";
import type { SecondStep } from "#contract/auth/auth.ts";
import { Security } from "#contract/auth/security.ts";
import { Observable } from "#lib/browser/observable.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { getSession } from "./session.ts";

/** How the account is kept, as the server told it last. In memory only: it is of no use without the network. */
const cachedSecurity = new Observable<{ userId: string; security: Security } | undefined>(undefined);
let lastRequest = 0;

const findCachedSecurity = (): Security | undefined => {
  const current = cachedSecurity.get();
  return current?.userId === getSession()?.userId ? current?.security : undefined;
};

/** Asks the server. Throws `ApiFailure`. */
export const loadSecurityOverview = async (): Promise<Security> => {
  const userId = getSession()?.userId;
  const turn = ++lastRequest;
  const security = parseResponse(Security, await requestApi("GET", "/api/auth/security"));
  // An answer that comes after a later one's question is older than it.
  if (userId !== undefined && turn === lastRequest) cachedSecurity.set({ userId, security });
  return security;
};

export const useSecurityOverview = (): Security | undefined =>
  useSyncExternalStore(cachedSecurity.subscribe, findCachedSecurity, () => undefined);

/** The code apps that have shown that they work. */
export const listCodeApps = ({ factors }: Security) => factors.filter(({ status }) => status === "verified");

/** What is asked after the password; undefined when the password is enough. */
export const findSecondSteps = (security: Security): SecondStep[] | undefined => {
  const hasApps = listCodeApps(security).length > 0;
  const hasKeys = security.passkeys.length > 0;
  if (!hasApps && !(hasKeys && security.passkey_second_step)) return undefined;
  return [
    ...(hasApps ? (["totp"] as const) : []),
    ...(hasKeys ? (["passkey"] as const) : []),
    ...(security.recovery_codes ? (["recovery_code"] as const) : []),
  ];
};
