import { useEffect, useRef, useState } from "react";
import { MediaError, type PreparedFile } from "#lib/media/outgoing-file.ts";
import { prepareFile } from "#lib/media/prepare-attachment.ts";

export type RejectionReason = MediaError["code"];
type PreparedVersions = {
  compressed: PreparedFile;
  /** The unchanged file; undefined if it cannot be sent as it is. */
  original: PreparedFile | undefined;
  /** Compressed image for the preview; undefined for other files. */
  preview: Blob | undefined;
};
export type MediaPreparation =
  | { state: "preparing" }
  | ({ state: "ready" } & PreparedVersions)
  | { state: "refused"; reason: RejectionReason };

const prepareVersions = async (file: File): Promise<MediaPreparation> => {
  try {
    const compressed = await prepareFile(file);
    const original = await prepareFile(file, { original: true }).catch(() => undefined);
    return {
      state: "ready",
      compressed,
      original,
      preview: compressed.body.type === "image" ? compressed.blob : undefined,
    };
  } catch (error) {
    return { state: "refused", reason: error instanceof MediaError ? error.code : "unreadable" };
  }
};

/** Prepares the chosen files for sending while the user reviews and captions them. */
export const useMediaPreparation = (files: File[]) => {
  const preparations = useRef(new Map<File, Promise<MediaPreparation>>());
  const [settled, setSettled] = useState<ReadonlyMap<File, MediaPreparation>>(new Map());
  for (const file of files) if (!preparations.current.has(file)) preparations.current.set(file, prepareVersions(file));

  useEffect(() => {
    for (const file of files) {
      void preparations.current.get(file)?.then((preparation) => {
        setSettled((previous) => (previous.has(file) ? previous : new Map(previous).set(file, preparation)));
      });
    }
  }, [files]);

  return {
    get: (file: File): MediaPreparation => settled.get(file) ?? { state: "preparing" },
    waitForAll: (): Promise<MediaPreparation[]> =>
      Promise.all(
        files.map(async (file) => (await preparations.current.get(file)) ?? { state: "refused", reason: "unreadable" }),
      ),
  };
};
