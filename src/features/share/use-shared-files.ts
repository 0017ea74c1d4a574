import { useEffect, useState } from "react";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { MediaError, type PreparedFile } from "#lib/media/outgoing-file.ts";

/** Shared file: being prepared without `outgoing`, and not sendable with a `reason`. */
export type SharedFile = { id: number; file: File; outgoing?: PreparedFile; reason?: MediaError["code"] };

/** Prepares shared files for sending, one after the other, and lets the person remove some. */
export const useSharedFiles = (given: readonly File[]) => {
  const [files, setFiles] = useState<readonly SharedFile[]>(() => given.map((file, id) => ({ id, file })));
  useEffect(() => {
    let isCurrent = true;
    const prepareAll = async () => {
      const code = await loadOrShowToast(() => import("#lib/media/prepare-attachment.ts"));
      if (!code) return;
      for (const file of given) {
        const result = await code.prepareFile(file).then(
          (outgoing) => ({ outgoing }),
          (error: unknown) => ({ reason: error instanceof MediaError ? error.code : ("unreadable" as const) }),
        );
        if (!isCurrent) return;
        setFiles((before) => before.map((shared) => (shared.file === file ? { ...shared, ...result } : shared)));
      }
    };
    void prepareAll();
    return () => {
      isCurrent = false;
    };
  }, [given]);
  return {
    files,
    isPreparing: files.some(({ outgoing, reason }) => !outgoing && !reason),
    remove: (id: number) => setFiles((before) => before.filter((shared) => shared.id !== id)),
  };
};
