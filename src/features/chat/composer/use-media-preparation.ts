import { useEffect, useRef, useState } from "react";
import { MediaError, type PreparedFile } from "#lib/media/outgoing-file.ts";
import { prepareFile } from "#lib/media/prepare-attachment.ts";

export type RejectionReason = MediaError["code"];
type PreparedVersions = {
  compressed: PreparedFile;
  /** What goes when the original is asked for; undefined when it cannot. */
  original: PreparedFile | undefined;
  /** What to show of a picture: the form in which it is usually sent. */
  preview: Blob | undefined;
};
export type MediaPreparation =
  | { state: "preparing" }
  | ({ state: "ready" } & PreparedVersions)
  | { state: "refused"; reason: RejectionReason };

const prepareVersions = async (file: File): Promise<MediaPreparation> => {
  try {
    const small = await prepareFile(file);
    const original = await prepareFile(file, { original: true }).catch(() => undefined);
    return {
      state: "ready",
      compressed: small,
      original,
      preview: small.body.type === "image" ? small.blob : undefined,
    };
  } catch (error) {
    return { state: "refused", reason: error instanceof MediaError ? error.code : "unreadable" };
  }
};

/** Makes the chosen files ready while their owner looks at them and writes captions. `all` waits for those shown now. */
export const useMediaPreparation = (files: File[]) => {
  const work = useRef(new Map<File, Promise<MediaPreparation>>());
  const [done, setDone] = useState<ReadonlyMap<File, MediaPreparation>>(new Map());
  for (const file of files) if (!work.current.has(file)) work.current.set(file, prepareVersions(file));

  useEffect(() => {
    for (const file of files) {
      void work.current.get(file)?.then((prepared) => {
        setDone((before) => (before.has(file) ? before : new Map(before).set(file, prepared)));
      });
    }
  }, [files]);

  return {
    of: (file: File): MediaPreparation => done.get(file) ?? { state: "preparing" },
    all: (): Promise<MediaPreparation[]> =>
      Promise.all(
        files.map(async (file) => (await work.current.get(file)) ?? { state: "refused", reason: "unreadable" }),
      ),
  };
};
