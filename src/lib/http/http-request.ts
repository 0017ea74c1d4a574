import { sessionTransportHeader } from "#contract/auth/auth.ts";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";

/** A refusal, or no answer at all. Screens translate the code. */
export class ApiRequestError extends Error {
  constructor(
    readonly code: ErrorCode | "offline",
    /** The HTTP status; 0 when no answer came. */
    readonly status: number,
    readonly retryAfterMs?: number,
    /** The whole body, for whoever knows that this refusal says more. */
    readonly body?: unknown,
  ) {
    super(code);
    this.name = "ApiFailure";
  }
}

/** The code of any caught error, for `t(`errors.${code}`)`. What is no refusal of ours is "internal". */
export const toErrorCode = (error: unknown): ErrorCode | "offline" =>
  error instanceof ApiRequestError ? error.code : "internal";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type HttpRequestOptions = {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  /** Send `body` as it is (a Blob with its own type) instead of as JSON. */
  isRawBody?: boolean;
  /**
   * Answer with the response itself, for a caller that reads its body as it comes, or knows what 304 says of it; the
   * timeout ends with its head.
   */
  wantsResponse?: boolean;
  /** Give up after this long without an answer; an upload asks for more. */
  timeoutMs?: number;
};

const defaultTimeoutMs = 30_000;

const toRequestError = async (response: Response): Promise<ApiRequestError> => {
  const seconds = Number(response.headers.get("retry-after"));
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
  const body: unknown = await response.json().catch(() => undefined);
  const code = typeof body === "object" && body !== null && "error_code" in body ? body.error_code : undefined;
  // A body that is not ours comes from something between us and the Worker: a proxy, a captive portal.
  const fallback: ErrorCode = response.status === 429 ? "rate_limited" : "unavailable";
  return new ApiRequestError(isErrorCode(code) ? code : fallback, response.status, retryAfterMs, body);
};

/** One exchange without any care for the session. Throws `ApiFailure`; an abort by the caller passes through. */
export const sendHttpRequest = async (
  method: HttpMethod,
  path: string,
  body?: unknown,
  options: HttpRequestOptions = {},
): Promise<unknown> => {
  const controller = new AbortController();
  const abort = () => controller.abort(options.signal?.reason);
  if (options.signal?.aborted) abort();
  options.signal?.addEventListener("abort", abort);
  const timer = setTimeout(() => controller.abort(), options.timeoutMs ?? defaultTimeoutMs);
  let isUnread = false;
  const headers: Record<string, string> = {
    accept: options.wantsResponse ? "*/*" : "application/json",
    [sessionTransportHeader]: "cookie",
    ...options.headers,
  };
  if (body !== undefined && !options.isRawBody) headers["content-type"] = "application/json";
  try {
    const response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      signal: controller.signal,
      ...(body === undefined ? {} : { body: options.isRawBody ? (body as BodyInit) : JSON.stringify(body) }),
    });
    if (!response.ok && !(options.wantsResponse && response.status === 304)) throw await toRequestError(response);
    isUnread = options.wantsResponse ?? false;
    if (isUnread) return response;
    if (response.status === 204) return undefined;
    const text = await response.text();
    if (text === "") return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new ApiRequestError("unavailable", response.status);
    }
  } catch (error) {
    if (error instanceof ApiRequestError) throw error;
    if (options.signal?.aborted) throw error;
    throw new ApiRequestError("offline", 0);
  } finally {
    clearTimeout(timer);
    // The caller's signal goes on ending a body that is still being read.
    if (!isUnread) options.signal?.removeEventListener("abort", abort);
  }
};
