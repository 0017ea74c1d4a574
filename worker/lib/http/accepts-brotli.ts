/** Cloudflare's front rewrites Accept-Encoding; `cf.clientAcceptEncoding` is what the browser said. */
export const acceptsBrotli = (request: Request): boolean => {
  const accepted = request.cf?.["clientAcceptEncoding"] ?? request.headers.get("accept-encoding") ?? "";
  return /(^|[\s,])br\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(String(accepted));
};
