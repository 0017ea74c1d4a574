import * as v from "valibot";
import { ApiRequestError } from "./http-request.ts";

/** What was asked for. Throws `ApiFailure` where it is something else: a proxy or a captive portal answered, or another version. */
export const parseResponse = <S extends v.GenericSchema>(schema: S, answer: unknown): v.InferOutput<S> => {
  const parsed = v.safeParse(schema, answer);
  if (!parsed.success) throw new ApiRequestError("unavailable", 200);
  return parsed.output;
};
