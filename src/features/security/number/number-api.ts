import { NewNumberMethods, NumberProof, type NumberProofStart, type OwnNumber } from "#contract/auth/number.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { ownNumberPath, parseOwnNumber } from "#sync/people/own-number.ts";

// Requests of the page of the own number. Each throws `ApiRequestError`.

export const fetchOwnNumber = async (signal?: AbortSignal): Promise<OwnNumber> =>
  parseOwnNumber(await requestApi("GET", ownNumberPath, undefined, signal && { signal }));

/** Methods for a new number, which is returned as the server stores it. */
export const fetchMethods = async (phone: string): Promise<NewNumberMethods> =>
  parseResponse(NewNumberMethods, await requestApi("POST", "/api/number/methods", { phone }));

export const startProof = async (start: NumberProofStart): Promise<NumberProof> =>
  parseResponse(NumberProof, await requestApi("POST", "/api/number/proofs", start));

export const checkNumberCode = async ({ id }: NumberProof, code: string): Promise<OwnNumber> =>
  parseOwnNumber(await requestApi("POST", `/api/number/proofs/${id}/code`, { code }));

export const toVouchingApiPath = (token: string): string => `/api/vouching/${encodeURIComponent(token)}`;

/** Confirms that a contact has the number of their code. It can be repeated. */
export const confirmNumber = async (token: string): Promise<void> => {
  await requestApi("PUT", toVouchingApiPath(token));
};
