/**
 * Tests whether the browser accepts brotli. Cloudflare's edge rewrites Accept-Encoding; `cf.clientAcceptEncoding` is
 * the original.
 */
export const acceptsBrotli = (request: Request): boolean => {
  const accepted = request.cf?.["clientAcceptEncoding"] ?? request.headers.get("accept-encoding") ?? "";
  return /(^|[\s,])br\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(String(accepted));
};
