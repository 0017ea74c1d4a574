import type { ComponentType } from "react";
import { ApiFailure } from "#lib/http/http-request.ts";
import type { SecondStepProps } from "./second-step.tsx";

/** Throws `ApiFailure` where it cannot be fetched. */
export const loadSecondStep = async (): Promise<ComponentType<SecondStepProps>> => {
  try {
    return (await import("./second-step.tsx")).default;
  } catch {
    throw new ApiFailure("offline", 0);
  }
};
