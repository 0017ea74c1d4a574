import { useMemo, useSyncExternalStore } from "react";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { AttachedBody } from "#contract/messages/body.ts";
import { getCachedFile } from "#sync/actions/cached-files.ts";
import { readUpload } from "#sync/queries/chat-messages.ts";
import type { FileView, UploadView } from "#sync/store/view-models.ts";
import { emptySource, useEngine, useLiveQuery } from "./use-live-query.ts";

export type { FileView, UploadView } from "#sync/store/view-models.ts";

const loadingFile: Omit<FileView, "load"> = { url: undefined, state: "loading" };

/**
 * A file of a message, from this device or after a download. `url` is valid while the hook is mounted. The state is
 * "loading" until the store was read.
 */
export const useFile = (conversation: ConversationId, { file, mime, size }: AttachedBody): FileView => {
  const engine = useEngine();
  const cachedFile = useMemo(() => engine && getCachedFile({ file, mime, size }), [engine, file, mime, size]);
  const shown = useSyncExternalStore(
    cachedFile?.subscribe ?? emptySource.subscribe,
    () => cachedFile?.get() ?? loadingFile,
  );
  return useMemo(() => ({ ...shown, load: () => cachedFile?.load(conversation) }), [shown, cachedFile, conversation]);
};

/** Progress of an own upload; undefined once it is finished. */
export const useUpload = (file: Uuid | undefined): UploadView | undefined =>
  useLiveQuery(file && `upload ${file}`, async (context) => (file ? readUpload(context, file) : undefined));
