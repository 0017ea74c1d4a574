import type { Counts, Measured } from "./counts";

/** One line per measured thing, for what `per` messages or calls cost; bench/count-rows.ts reads them out of the run's output. */
export function report(name: string, per: number, counts: Counts): void {
  console.log(`BENCH ${JSON.stringify({ name, per, counts } satisfies Measured)}`);
}
