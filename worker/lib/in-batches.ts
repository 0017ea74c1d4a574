/** Does something of which each go deals with so many at most, until a go finds fewer or there were so many goes. */
export const inBatches = async (batch: number, goesMax: number, go: () => Promise<number>): Promise<void> => {
  for (let goes = 0; goes < goesMax; goes++) if ((await go()) < batch) return;
};
