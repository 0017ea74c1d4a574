import { useSyncExternalStore } from "react";
import type { SecondStep } from "#contract/auth/auth.ts";
import { Security } from "#contract/auth/security.ts";
import { Observable } from "#lib/browser/observable.ts";
import { request } from "#lib/http/api.ts";
import { readAnswer } from "#lib/http/parse-response.ts";
import { getSession } from "./session.ts";

/** How the account is kept, as the server told it last. In memory only: it is of no use without the network. */
const known = new Observable<{ userId: string; security: Security } | undefined>(undefined);
let asked = 0;

const findKnown = (): Security | undefined => {
  const current = known.get();
  return current?.userId === getSession()?.userId ? current?.security : undefined;
};

/** Asks the server. Throws `ApiFailure`. */
export const loadSecurity = async (): Promise<Security> => {
  const userId = getSession()?.userId;
  const turn = ++asked;
  const security = readAnswer(Security, await request("GET", "/api/auth/security"));
  // An answer that comes after a later one's question is older than it.
  if (userId !== undefined && turn === asked) known.set({ userId, security });
  return security;
};

export const useSecurity = (): Security | undefined =>
  useSyncExternalStore(known.subscribe, findKnown, () => undefined);

/** The code apps that have shown that they work. */
export const listApps = ({ factors }: Security) => factors.filter(({ status }) => status === "verified");

/** What is asked after the password; undefined when the password is enough. */
export const findSteps = (security: Security): SecondStep[] | undefined => {
  const hasApps = listApps(security).length > 0;
  const hasKeys = security.passkeys.length > 0;
  if (!hasApps && !(hasKeys && security.passkey_second_step)) return undefined;
  return [
    ...(hasApps ? (["totp"] as const) : []),
    ...(hasKeys ? (["passkey"] as const) : []),
    ...(security.recovery_codes ? (["recovery_code"] as const) : []),
  ];
};
