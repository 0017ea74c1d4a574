import * as v from "valibot";
import { ApiRequestError } from "./http-request.ts";

/**
 * Parses a response body. Throws `ApiRequestError` if it does not match: a proxy or a captive portal answered, or
 * another version of the server.
 */
export const parseResponse = <S extends v.GenericSchema>(schema: S, body: unknown): v.InferOutput<S> => {
  const parsed = v.safeParse(schema, body);
  if (!parsed.success) throw new ApiRequestError("unavailable", 200);
  return parsed.output;
};
