import { describe, expect, it } from "vitest";
import { findAdjacentResult, toResultNumber } from "#features/chat/search/result-navigation.ts";

describe("a walk through what was found", () => {
  const seqs = [90, 40, 7];

  it("leads from one to the next older one and back, and around the ends", () => {
    expect(seqs.map((seq) => findAdjacentResult(seqs, seq, 1))).toEqual([40, 7, 90]);
    expect(seqs.map((seq) => findAdjacentResult(seqs, seq, -1))).toEqual([7, 90, 40]);
    expect(seqs.map((seq) => toResultNumber(seqs, seq))).toEqual([1, 2, 3]);
  });

  it("goes on from the place of one that is gone, whatever is found before it meanwhile", () => {
    expect([findAdjacentResult(seqs, 50, 1), findAdjacentResult(seqs, 50, -1), toResultNumber(seqs, 50)]).toEqual([
      40, 90, 1,
    ]);
    const more = [120, 100, ...seqs];
    expect([findAdjacentResult(more, 90, 1), findAdjacentResult(more, 90, -1), toResultNumber(more, 90)]).toEqual([
      40, 100, 3,
    ]);
    expect(findAdjacentResult([], 90, 1)).toBeUndefined();
  });
});
