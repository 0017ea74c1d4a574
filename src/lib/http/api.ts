import { personHeader } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { clearSession, getSession, isNearExpiry } from "#lib/session/session.ts";
import { refreshSession } from "#lib/session/session-refresh.ts";
import { ApiRequestError, type HttpMethod, type HttpRequestOptions, sendHttpRequest } from "./http-request.ts";

export { ApiRequestError } from "./http-request.ts";

/** `person`: whom the request is for, if known better than by the current session. */
type PersonRequestOptions = HttpRequestOptions & { person?: Uuid };

/**
 * API client of the signed-in person, without toasts or navigation. It renews a session near its expiry first, and once
 * more after a 401. Each request names its person: another account may sign in meanwhile, in another tab, and its
 * session must not carry this request. The result is `unknown` until the caller parses it with a schema.
 */
export const requestApi = async (
  method: HttpMethod,
  path: string,
  body?: unknown,
  { person = getSession()?.userId, headers, ...options }: PersonRequestOptions = {},
): Promise<unknown> => {
  const isSamePerson = () => getSession()?.userId === person;
  const send = () => {
    if (!isSamePerson()) throw new ApiRequestError("session_not_found", 401);
    return sendHttpRequest(method, path, body, {
      ...options,
      headers: { ...headers, ...(person === undefined ? {} : { [personHeader]: person }) },
    });
  };
  const session = getSession();
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ApiRequestError) || error.status !== 401 || !getSession() || !isSamePerson()) throw error;
    const isRenewed = await refreshSession(true);
    if (!isRenewed || !isSamePerson()) throw error;
    try {
      return await send();
    } catch (retryError) {
      if (retryError instanceof ApiRequestError && retryError.status === 401 && isSamePerson()) clearSession();
      throw retryError;
    }
  }
};
