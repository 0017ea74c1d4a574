/** A walk through places found, newest first: 1 leads to the next older one, -1 back, around either end. */
export const findAdjacentResult = (seqs: readonly number[], seq: number, by: 1 | -1): number | undefined => {
  const next = by === 1 ? seqs.find((one) => one < seq) : seqs.findLast((one) => one > seq);
  return next ?? seqs.at(by === 1 ? 0 : -1);
};

/** The number of a place among them, from 1; of one that is gone meanwhile, of the one before it. */
export const toResultNumber = (seqs: readonly number[], seq: number): number => seqs.filter((one) => one >= seq).length;
