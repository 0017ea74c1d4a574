/** Repeats a batch operation until a batch is not full or the maximum number of batches has run. */
export const runInBatches = async (batch: number, goesMax: number, go: () => Promise<number>): Promise<void> => {
  for (let goes = 0; goes < goesMax; goes++) if ((await go()) < batch) return;
};
