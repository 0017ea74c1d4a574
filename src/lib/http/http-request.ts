import { sessionTransportHeader } from "#contract/auth/auth.ts";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";

/** Failed request: an error response, or none at all. Screens translate the code. */
export class ApiRequestError extends Error {
  constructor(
    readonly code: ErrorCode | "offline",
    /** HTTP status; 0 if there was no response. */
    readonly status: number,
    readonly retryAfterMs?: number,
    /** Complete response body, for callers that know its error details. */
    readonly body?: unknown,
  ) {
    super(code);
    this.name = "ApiFailure";
  }
}

/** Error code of any caught error, for `t(`errors.${code}`)`. Errors other than `ApiRequestError` are "internal". */
export const toErrorCode = (error: unknown): ErrorCode | "offline" =>
  error instanceof ApiRequestError ? error.code : "internal";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
export type HttpRequestOptions = {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  /** Sends `body` unchanged (a Blob with its own type) instead of as JSON. */
  isRawBody?: boolean;
  /**
   * Returns the response itself, for callers that stream the body or handle 304. The timeout then covers only the
   * headers.
   */
  wantsResponse?: boolean;
  /** Maximum time without a response; uploads need more. */
  timeoutMs?: number;
};

const defaultTimeoutMs = 30_000;

const toRequestError = async (response: Response): Promise<ApiRequestError> => {
  const seconds = Number(response.headers.get("retry-after"));
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
  const body: unknown = await response.json().catch(() => undefined);
  const code = typeof body === "object" && body !== null && "error_code" in body ? body.error_code : undefined;
  // A body in another format comes from something between us and the Worker: a proxy, a captive portal.
  const fallback: ErrorCode = response.status === 429 ? "rate_limited" : "unavailable";
  return new ApiRequestError(isErrorCode(code) ? code : fallback, response.status, retryAfterMs, body);
};

/** Sends one request without session handling. Throws `ApiRequestError`; an abort by the caller is rethrown. */
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
  let isResponseReturned = false;
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
    isResponseReturned = options.wantsResponse ?? false;
    if (isResponseReturned) return response;
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
    // The caller's signal still aborts a body that is being read.
    if (!isResponseReturned) options.signal?.removeEventListener("abort", abort);
  }
};
