import type { ComponentType } from "react";
import { ApiRequestError } from "#lib/http/http-request.ts";
import type { SecondFactorStepProps } from "./second-factor-step.tsx";

/** Loads the code-split second-factor step. Throws `ApiRequestError` ("offline") if it cannot be fetched. */
export const loadSecondFactorStep = async (): Promise<ComponentType<SecondFactorStepProps>> => {
  try {
    return (await import("./second-factor-step.tsx")).default;
  } catch {
    throw new ApiRequestError("offline", 0);
  }
};
