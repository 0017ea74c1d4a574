/** Repeats a batch operation until a batch is not full or the maximum number of batches has run. */
export const runInBatches = async (batchSize: number, runsMax: number, run: () => Promise<number>): Promise<void> => {
  for (let runs = 0; runs < runsMax; runs++) if ((await run()) < batchSize) return;
};
