import { computeRatio, median, percentile } from "#bench/rig/statistics.ts";
import { formatMilliseconds, formatRatio } from "#bench/rig/table.ts";
import type { Site } from "#tests/support/people/people.ts";

let lastAddress = 0;

/** Sends each request from a different address, so that no rate limit applies. */
export const toSite = (origin: string): Site => ({
  origin,
  fetch: (url, init) => {
    const n = ++lastAddress;
    const address = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    return fetch(url, { ...init, headers: { ...init.headers, "cf-connecting-ip": address } });
  },
});

export type TimedAnswer = { ms: number; status: number; text: string };

/** Time of the complete response, its status and text. */
export async function timeRequest(
  site: Site,
  method: string,
  path: string,
  { token, body }: { token?: string; body?: object } = {},
): Promise<TimedAnswer> {
  const init = {
    method,
    headers: {
      ...(body && { "content-type": "application/json" }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  };
  const started = performance.now();
  const response = await site.fetch(site.origin + path, init);
  const text = await response.text();
  return { ms: performance.now() - started, status: response.status, text };
}

export const comparisonColumns = [
  "",
  "tries each",
  "first",
  "second",
  "apart",
  "of medians",
  "of pairs",
  "10 %",
  "90 %",
];

/** Row that compares the times of two answers of every round. */
export function compareTimes(name: string, first: readonly number[], second: readonly number[]): string[] {
  const difference = median(first) - median(second);
  const range = (share: number): string =>
    `${formatMilliseconds(percentile(first, share))} / ${formatMilliseconds(percentile(second, share))}`;
  return [
    name,
    String(first.length),
    formatMilliseconds(median(first)),
    formatMilliseconds(median(second)),
    `${difference < 0 ? "−" : "+"}${formatMilliseconds(Math.abs(difference))}`,
    formatRatio(median(first) / median(second)),
    formatRatio(computeRatio(first, second).ratio),
    range(0.1),
    range(0.9),
  ];
}
