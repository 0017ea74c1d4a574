import { requestApi } from "#lib/http/api.ts";
import { ApiRequestError, toErrorCode } from "#lib/http/http-request.ts";

const putPassword = async (password: string): Promise<void> => {
  await requestApi("PUT", "/api/auth/user", { password });
};

/**
 * Sets the own password and ends every other session. Asked once more where no answer came. What was lost may have been the
 * answer alone: that the password is the current one already then says that it is done, also when its person is who asks
 * again. Throws `ApiFailure`.
 */
export const createPasswordChange = (): ((password: string) => Promise<void>) => {
  let unanswered: string | undefined;
  const set = async (password: string): Promise<void> => {
    try {
      await putPassword(password);
    } catch (error) {
      if (toErrorCode(error) === "same_password" && password === unanswered) {
        // Or nothing had arrived, and the new password is the one there was.
        await requestApi("DELETE", "/api/auth/sessions");
        return;
      }
      if (error instanceof ApiRequestError && error.status === 0) unanswered = password;
      throw error;
    }
  };
  return async (password) => {
    try {
      await set(password);
    } catch (error) {
      if (toErrorCode(error) !== "offline") throw error;
      await set(password);
    }
  };
};
