import { ApiFailure, exchange, type Method, type RequestOptions } from "./exchange";
import { dropSession, getSession, isNearExpiry } from "./session";
import { refreshSession } from "./session-refresh";

export { ApiFailure } from "./exchange";

/**
 * The one way to the API for the signed-in person; it shows nothing and goes nowhere itself. It renews a session near its end first, and once more when the server
 * says 401 all the same. The answer is unknown until the caller's schema has read it.
 */
export const request = async (
  method: Method,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<unknown> => {
  const session = getSession();
  if (session && isNearExpiry(session)) await refreshSession();
  try {
    return await exchange(method, path, body, options);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401 || !getSession()) throw error;
    // Another account may have signed in meanwhile, in another tab: its session must not carry this request.
    const renewed = await refreshSession(true);
    if (!renewed || getSession()?.userId !== session?.userId) throw error;
    try {
      return await exchange(method, path, body, options);
    } catch (again) {
      if (again instanceof ApiFailure && again.status === 401) dropSession();
      throw again;
    }
  }
};
