import { pictureCache as cache } from "../lib/picture-cache";
import { drop, find, keep, keysOf } from "./store";

/** Pictures of people and groups, which never change under one address. Sign-out removes them, and so does a group that goes. */
const keptMax = 200;
// Trimmed by a margin, so that not every new picture counts them all.
const trimEvery = 20;

let added = 0;
// Seen since the worker started: these go last.
const used = new Set<string>();

const trim = async (): Promise<void> => {
  const keys = await keysOf(cache);
  const surplus = keys.length - keptMax;
  if (surplus <= 0) return;
  const oldestFirst = [...keys.filter((key) => !used.has(key)), ...keys.filter((key) => used.has(key))];
  await drop(cache, oldestFirst.slice(0, surplus));
};

export const answerAvatar = async (request: Request, later: (work: Promise<unknown>) => void): Promise<Response> => {
  const { pathname, search } = new URL(request.url);
  const key = pathname + search;
  used.add(key);
  const kept = await find(cache, key);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200) {
    later(keep(cache, key, response.clone()));
    if (added++ % trimEvery === 0) later(trim());
  }
  return response;
};
