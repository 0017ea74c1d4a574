import { OwnNumber } from "#contract/auth/number.ts";
import { parseResponse } from "#lib/http/parse-response.ts";

/** Own number and whether it is verified, which only the server knows. */
export const ownNumberPath = "/api/number";

export const parseOwnNumber = (body: unknown): OwnNumber => parseResponse(OwnNumber, body);
