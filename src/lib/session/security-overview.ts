import { useSyncExternalStore } from "react";
import type { SecondStep } from "#contract/auth/auth.ts";
import { Security } from "#contract/auth/security.ts";
import { Observable } from "#lib/browser/observable.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { getSession } from "./session.ts";

/** Latest security overview of the account. In memory only: it is useless offline. */
const cachedSecurity = new Observable<{ userId: string; security: Security } | undefined>(undefined);
let lastRequest = 0;

const findCachedSecurity = (): Security | undefined => {
  const current = cachedSecurity.get();
  return current?.userId === getSession()?.userId ? current?.security : undefined;
};

/** Fetches the overview. Throws `ApiRequestError`. */
export const loadSecurityOverview = async (): Promise<Security> => {
  const userId = getSession()?.userId;
  const requestNumber = ++lastRequest;
  const security = parseResponse(Security, await requestApi("GET", "/api/auth/security"));
  // A response that arrives after a later request was sent is outdated.
  if (userId !== undefined && requestNumber === lastRequest) cachedSecurity.set({ userId, security });
  return security;
};

export const useSecurityOverview = (): Security | undefined =>
  useSyncExternalStore(cachedSecurity.subscribe, findCachedSecurity, () => undefined);

/** Verified code apps. */
export const listCodeApps = ({ factors }: Security) => factors.filter(({ status }) => status === "verified");

/** Second factors required to sign in, or undefined if the password is sufficient. */
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
