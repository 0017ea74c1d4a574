// Client of the public HTTP API for one person: signs up, signs in and sends requests.
import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";

const retryTimeoutMs = 40_000;
const repeatDelayMs = 500;

/** Refused request. `code` is the API's `error_code`. */
export class ApiRefusal extends Error {
  constructor(call, status, code) {
    super(`${call} was refused: ${status} ${code}`);
    this.code = code;
  }
}

/**
 * Sends one request. After a 429 it waits as long as the server asks and retries, and it retries when a reused
 * connection was just closed.
 * @param {string} origin such as `http://localhost:8787`
 * @param {string} method
 * @param {string} path
 * @param {{ token?: string, body?: unknown, form?: FormData, raw?: { type: string, bytes: Uint8Array } }} [options]
 * @returns {Promise<any>} the answer's JSON, undefined when it is empty
 */
export async function callApi(origin, method, path, { token, body, form, raw } = {}) {
  const headers = { origin };
  if (token) headers.authorization = `Bearer ${token}`;
  if (raw) headers["content-type"] = raw.type;
  else if (body !== undefined) headers["content-type"] = "application/json";
  const deadline = Date.now() + retryTimeoutMs;
  for (;;) {
    const init = { method, headers, body: form ?? raw?.bytes ?? JSON.stringify(body) };
    const response = await fetch(origin + path, init).catch((error) => {
      if (Date.now() + repeatDelayMs > deadline) throw error;
    });
    if (!response) {
      await new Promise((resolve) => setTimeout(resolve, repeatDelayMs));
      continue;
    }
    const text = await response.text();
    if (response.ok) return text === "" ? undefined : JSON.parse(text);
    const waitMs = Number(response.headers.get("retry-after")) * 1000;
    if (response.status !== 429 || !(waitMs > 0) || Date.now() + waitMs > deadline) {
      throw new ApiRefusal(`${method} ${path}`, response.status, parseErrorCode(text));
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function parseErrorCode(text) {
  try {
    return JSON.parse(text).error_code;
  } catch {
    return text.slice(0, 200);
  }
}

/** Solves the proof of work of `contract/auth/auth.ts` Challenge. */
async function solveProofOfWork(origin, purpose) {
  const challenge = await callApi(origin, "POST", "/api/auth/challenge", { body: purpose });
  const solution = await solveChallenge({ challenge, deriveKey });
  return btoa(JSON.stringify({ challenge, solution }));
}

/** @param {string} origin @param {{ phone: string, password: string, name: string }} account */
export async function signUp(origin, { phone, password, name }) {
  const captcha_token = await solveProofOfWork(origin, { action: "sign_up", subject: phone });
  const body = { phone, password, data: { username: name }, gotrue_meta_security: { captcha_token } };
  return callApi(origin, "POST", "/api/auth/signup", { body });
}

/** @param {string} origin @param {{ phone: string, password: string }} account */
export const signIn = (origin, { phone, password }) =>
  callApi(origin, "POST", "/api/auth/token?grant_type=password", { body: { phone, password } });
