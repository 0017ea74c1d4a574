import { type NumberMethod, NumberProof, OwnNumber } from "#contract/auth/number.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";

// Requests of the page that verifies the own number. Each throws `ApiRequestError`.

export const ownNumberPath = "/api/number";

export const parseOwnNumber = (body: unknown): OwnNumber => parseResponse(OwnNumber, body);

export const fetchOwnNumber = async (signal: AbortSignal): Promise<OwnNumber> =>
  parseOwnNumber(await requestApi("GET", ownNumberPath, undefined, { signal }));

export const startProof = async (method: NumberMethod): Promise<NumberProof> =>
  parseResponse(NumberProof, await requestApi("POST", "/api/number/proofs", { method }));

export const checkNumberCode = async ({ id }: NumberProof, code: string): Promise<OwnNumber> =>
  parseOwnNumber(await requestApi("POST", `/api/number/proofs/${id}/code`, { code }));
