import { personHeader } from "#contract/auth/auth.ts";
import type { Uuid } from "#contract/ids.ts";
import { clearSession, getSession, isNearExpiry } from "#lib/session/session.ts";
import { refreshSession } from "#lib/session/session-refresh.ts";
import { ApiRequestError, type HttpMethod, type HttpRequestOptions, sendHttpRequest } from "./http-request.ts";

export { ApiRequestError } from "./http-request.ts";

/** `person`: for whom, where that is known better than by who is signed in now. */
type PersonRequestOptions = HttpRequestOptions & { person?: Uuid };

/**
 * The one way to the API for the signed-in person; it shows nothing and goes nowhere itself. It renews a session near its end first, and once more when the server
 * says 401 all the same. It says for whom it asks: another account may sign in meanwhile, in another tab, and its session
 * must not carry this request. The answer is unknown until the caller's schema has read it.
 */
export const requestApi = async (
  method: HttpMethod,
  path: string,
  body?: unknown,
  { person = getSession()?.userId, headers, ...options }: PersonRequestOptions = {},
): Promise<unknown> => {
  const isTheirs = () => getSession()?.userId === person;
  const ask = () => {
    if (!isTheirs()) throw new ApiRequestError("session_not_found", 401);
    return sendHttpRequest(method, path, body, {
      ...options,
      headers: { ...headers, ...(person === undefined ? {} : { [personHeader]: person }) },
    });
  };
  const session = getSession();
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiRequestError) || error.status !== 401 || !getSession() || !isTheirs()) throw error;
    const renewed = await refreshSession(true);
    if (!renewed || !isTheirs()) throw error;
    try {
      return await ask();
    } catch (again) {
      if (again instanceof ApiRequestError && again.status === 401 && isTheirs()) clearSession();
      throw again;
    }
  }
};
