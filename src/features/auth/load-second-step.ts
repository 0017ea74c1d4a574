import type { ComponentType } from "react";
import { ApiFailure } from "../../lib/exchange";
import type { SecondStepProps } from "./second-step";

/** Throws `ApiFailure` where it cannot be fetched. */
export const loadSecondStep = async (): Promise<ComponentType<SecondStepProps>> => {
  try {
    return (await import("./second-step")).default;
  } catch {
    throw new ApiFailure("offline", 0);
  }
};
