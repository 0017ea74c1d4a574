import {
  NewNumberMethods,
  NumberProof,
  type NumberProofStart,
  type OwnNumber,
  sendsCode,
} from "#contract/auth/number.ts";
import { requestApi } from "#lib/http/api.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { ownNumberPath, parseOwnNumber } from "#sync/actions/own-number.ts";

// Requests of the page of the own number. Each throws `ApiRequestError`.

export const fetchOwnNumber = async (signal?: AbortSignal): Promise<OwnNumber> =>
  parseOwnNumber(await requestApi("GET", ownNumberPath, undefined, signal && { signal }));

/** Methods for a new number, which is returned as the server stores it. */
export const fetchMethods = async (phone: string): Promise<NewNumberMethods> =>
  parseResponse(NewNumberMethods, await requestApi("POST", "/api/number/methods", { phone }));

// Others at the same address, or the use of the day's codes, may raise the difficulty meanwhile.
const attemptsMax = 3;

/** Proof of work for a code to a number, some seconds of work on a slow phone. */
const makeNumberToken = async (phone: string | undefined): Promise<string> => {
  const { solveServedChallenge } = await import("#lib/session/proof-of-work.ts");
  const challenge = await requestApi("POST", "/api/number/challenge", phone === undefined ? {} : { phone });
  return (await solveServedChallenge(challenge, new AbortController().signal)).token;
};

export const startProof = async (start: NumberProofStart): Promise<NumberProof> => {
  for (let attempt = 1; ; attempt++) {
    const work = sendsCode(start.method) ? { captcha_token: await makeNumberToken(start.phone) } : {};
    try {
      return parseResponse(NumberProof, await requestApi("POST", "/api/number/proofs", { ...start, ...work }));
    } catch (error) {
      if (toErrorCode(error) !== "captcha_failed" || attempt === attemptsMax) throw error;
    }
  }
};

export const checkNumberCode = async ({ id }: NumberProof, code: string): Promise<OwnNumber> =>
  parseOwnNumber(await requestApi("POST", `/api/number/proofs/${id}/code`, { code }));

export const toVouchingApiPath = (token: string): string => `/api/vouching/${encodeURIComponent(token)}`;

/** Confirms that a contact has the number of their code. It can be repeated. */
export const confirmNumber = async (token: string): Promise<void> => {
  await requestApi("PUT", toVouchingApiPath(token));
};
