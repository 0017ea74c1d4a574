import { createUuid, type Uuid } from "../../contract/ids";
import type { SecurityNotice } from "../../contract/security";
import { type AppContext, afterAnswer } from "../lib/app";
import { withRetry } from "../objects/retry";
import { userChannelOf } from "../objects/stubs";

/** Tells a person's devices, those too that come later, what became of the account. */
export const notify = (c: AppContext, user: Uuid, notice: Omit<SecurityNotice, "id" | "at">): void => {
  const now = Date.now();
  const whole = { ...notice, id: createUuid(now), at: now };
  afterAnswer(
    c.executionCtx,
    "tell of a change to an account",
    withRetry(() => userChannelOf(c.env, user).warn(user, whole)),
  );
};
