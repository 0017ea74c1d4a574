import { requestApi } from "#lib/http/api.ts";
import { ApiRequestError, toErrorCode } from "#lib/http/http-request.ts";

const putPassword = async (password: string): Promise<void> => {
  await requestApi("PUT", "/api/auth/user", { password });
};

/**
 * Changes the password and ends every other session. Retries once without a response, since only the response may have
 * been lost: `same_password` then means success, also when the person retries later. Throws `ApiRequestError`.
 */
export const createPasswordChange = (): ((password: string) => Promise<void>) => {
  let unansweredPassword: string | undefined;
  const submit = async (password: string): Promise<void> => {
    try {
      await putPassword(password);
    } catch (error) {
      if (toErrorCode(error) === "same_password" && password === unansweredPassword) {
        // Or no request had arrived, and the new password equals the old one.
        await requestApi("DELETE", "/api/auth/sessions");
        return;
      }
      if (error instanceof ApiRequestError && error.status === 0) unansweredPassword = password;
      throw error;
    }
  };
  return async (password) => {
    try {
      await submit(password);
    } catch (error) {
      if (toErrorCode(error) !== "offline") throw error;
      await submit(password);
    }
  };
};
