type RestoreSettings = { RESTORE_GENERATION: string; RESTORED_OBJECTS: string };

/**
 * Generation in force for an object: the larger of the one of all objects and its own (docs/operating/restoring.md). It
 * is a setting of the deployment, because a restore would replace everything beside the data as well.
 */
export const readRestoreGeneration = (
  { RESTORE_GENERATION: ofAll, RESTORED_OBJECTS: list }: RestoreSettings,
  id: string,
): number => {
  const own = list.split(",").map((entry) => entry.trim().split("="));
  const generations = own.flatMap(([name, generation]) => (name === id ? [Number(generation) || 0] : []));
  return Math.max(Number(ofAll) || 0, ...generations);
};

/** New identity of a log or an inbox. It names the generation in which it began. */
export const newEpoch = (generation: number): string =>
  `${crypto.randomUUID().slice(0, 8)}${generation > 0 ? `.${generation}` : ""}`;

/** Whether data began in another generation than the one in force: it was restored from an earlier copy since. */
export const isRestored = (epoch: string, generation: number): boolean =>
  Number(epoch.split(".")[1] ?? 0) !== generation;
