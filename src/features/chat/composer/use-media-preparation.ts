import { useEffect, useRef, useState } from "react";
import { MediaRefusal, type Outgoing } from "#lib/media/outgoing-file.ts";
import { prepareFile } from "#lib/media/prepare-attachment.ts";

export type Refused = MediaRefusal["code"];
type Ready = {
  small: Outgoing;
  /** What goes when the original is asked for; undefined when it cannot. */
  original: Outgoing | undefined;
  /** What to show of a picture: the form in which it is usually sent. */
  picture: Blob | undefined;
};
export type Prepared = { state: "preparing" } | ({ state: "ready" } & Ready) | { state: "refused"; why: Refused };

const prepare = async (file: File): Promise<Prepared> => {
  try {
    const small = await prepareFile(file);
    const original = await prepareFile(file, { original: true }).catch(() => undefined);
    return { state: "ready", small, original, picture: small.body.type === "image" ? small.blob : undefined };
  } catch (error) {
    return { state: "refused", why: error instanceof MediaRefusal ? error.code : "unreadable" };
  }
};

/** Makes the chosen files ready while their owner looks at them and writes captions. `all` waits for those shown now. */
export const usePrepared = (files: File[]) => {
  const work = useRef(new Map<File, Promise<Prepared>>());
  const [done, setDone] = useState<ReadonlyMap<File, Prepared>>(new Map());
  for (const file of files) if (!work.current.has(file)) work.current.set(file, prepare(file));

  useEffect(() => {
    for (const file of files) {
      void work.current.get(file)?.then((prepared) => {
        setDone((before) => (before.has(file) ? before : new Map(before).set(file, prepared)));
      });
    }
  }, [files]);

  return {
    of: (file: File): Prepared => done.get(file) ?? { state: "preparing" },
    all: (): Promise<Prepared[]> =>
      Promise.all(files.map(async (file) => (await work.current.get(file)) ?? { state: "refused", why: "unreadable" })),
  };
};
