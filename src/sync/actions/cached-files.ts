import { currentEngine } from "#sync/engine/engine.ts";
import { type CachedFile, type FileReference, ObjectUrlCache } from "#sync/files/object-urls.ts";

/** Cache of the running engine, made for its first file. */
let cache: ObjectUrlCache | undefined;

const openCache = (): ObjectUrlCache | undefined => {
  const engine = currentEngine.get();
  if (!engine) return undefined;
  const opened = new ObjectUrlCache(engine.client);
  const unsubscribe = currentEngine.subscribe(() => {
    unsubscribe();
    opened.stop();
    cache = undefined;
  });
  return opened;
};

/** A file for this tab's screens; undefined while no engine runs. */
export const getCachedFile = (file: FileReference): CachedFile | undefined => {
  cache ??= openCache();
  return cache?.get(file);
};
