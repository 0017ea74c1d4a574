import type { Language } from "#contract/language.ts";

const oneYearSeconds = 31_536_000;

/** Headers of every response of the Worker and of static files, except scripts and styles. */
export const headersEverywhere = {
  "strict-transport-security": `max-age=${oneYearSeconds}; includeSubDomains`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "camera=(self), microphone=(self), display-capture=(self), autoplay=(self), geolocation=(), payment=(), usb=()",
} as const;

/**
 * Headers of scripts and styles. What only documents need is left out: over HTTP/1.1 it would be a kilobyte per file. The
 * policy is that of the worker for pictures, which loads nothing.
 */
export const clientFileHeaders = {
  "strict-transport-security": headersEverywhere["strict-transport-security"],
  "x-content-type-options": headersEverywhere["x-content-type-options"],
  "cross-origin-resource-policy": headersEverywhere["cross-origin-resource-policy"],
  "content-security-policy": "default-src 'none'",
  "cache-control": `public, max-age=${oneYearSeconds}, immutable`,
} as const;

/** Trusted Types policy for script URLs of our pages. */
export const trustedTypesPolicy = "lisolo";

const sources = (hashes: readonly string[]): string => ["'self'", ...hashes.map((hash) => `'${hash}'`)].join(" ");

/**
 * Headers of an HTML document. Hashes (`sha256-…`, without quotes) are those of its inline scripts and styles. Trusted
 * Types guard the script sinks: registering a service worker or starting a worker by URL requires the policy.
 */
export const documentHeaders = (
  scriptHashes: readonly string[],
  styleHashes: readonly string[],
): Record<string, string> => ({
  ...headersEverywhere,
  "content-security-policy": [
    "default-src 'none'",
    `script-src ${sources(scriptHashes)}`,
    `style-src ${sources(styleHashes)}`,
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypesPolicy}`,
  ].join("; "),
});

/** Part of a stylesheet, with the classes that it is for. Without any, every document needs it. */
export type StyleRule = { css: string; classes?: string[] };

/**
 * Template of the app's document, written by the build (`src/prerender`) and filled by the Worker: HTML with marks, the
 * styles in their order, and the hashes of the inline scripts and of the other inline styles.
 */
export type AppTemplate = {
  html: string;
  /** Text of the link that loads the page again, shown if a script cannot be loaded. */
  hints: Record<Language, string>;
  styles: StyleRule[];
  scriptHashes: string[];
  styleHashes: string[];
};
