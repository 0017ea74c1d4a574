import { describe, expect, it } from "vitest";
import { nextFrom, placeOf } from "#features/chat/search/result-navigation.ts";

describe("a walk through what was found", () => {
  const seqs = [90, 40, 7];

  it("leads from one to the next older one and back, and around the ends", () => {
    expect(seqs.map((seq) => nextFrom(seqs, seq, 1))).toEqual([40, 7, 90]);
    expect(seqs.map((seq) => nextFrom(seqs, seq, -1))).toEqual([7, 90, 40]);
    expect(seqs.map((seq) => placeOf(seqs, seq))).toEqual([1, 2, 3]);
  });

  it("goes on from the place of one that is gone, whatever is found before it meanwhile", () => {
    expect([nextFrom(seqs, 50, 1), nextFrom(seqs, 50, -1), placeOf(seqs, 50)]).toEqual([40, 90, 1]);
    const more = [120, 100, ...seqs];
    expect([nextFrom(more, 90, 1), nextFrom(more, 90, -1), placeOf(more, 90)]).toEqual([40, 100, 3]);
    expect(nextFrom([], 90, 1)).toBeUndefined();
  });
});
