import type { Uuid } from "#contract/ids.ts";
import type { UploadRow } from "./attachment-rows.ts";
import { toRemoval, toTimedChange, type UnsentChange, type UnsentState, type Untimed } from "./unsent-state.ts";

/** Files that the server does not have completely, as the image in memory (`unsent-store.ts`) has them. */

type Image = { list(): UnsentState };
type Upload = Untimed<UploadRow>;

export const createUpload = (file: Uuid, name: string, { size }: Blob, createdAt: number): Upload => ({
  ...{ file, name, size, createdAt },
  state: "waiting",
});

/** All uploads in the order in which their files were chosen; messages of later files wait for earlier ones. */
export const listUploads = (unsent: Image): UploadRow[] =>
  [...unsent.list().uploads.values()].sort((a, b) => a.createdAt - b.createdAt || (a.n ?? 0) - (b.n ?? 0));

/** Whether the server is to receive it now. */
export const isUploadActive = ({ state }: Upload): boolean => state === "waiting" || state === "uploading";

/** Insertion of an upload, at a device time. */
export const putUpload = (upload: Upload, at: number): UnsentChange =>
  toTimedChange("uploads", upload.file, at, () => upload);

/** Change of an upload, at a device time. Nothing happens if it has ended meanwhile. */
export const changeUpload = (file: Uuid, at: number, change: (row: UploadRow) => Upload): UnsentChange =>
  toTimedChange("uploads", file, at, (row) => row && change(row));

/** Marks an upload as no longer needed, until the server was told. */
export const cancelUpload = (file: Uuid, at: number): UnsentChange =>
  changeUpload(file, at, (row) => ({ ...row, state: "cancelled" }));

/** Marks an upload that is neither paused for good nor cancelled as failed. */
export const failUpload = (file: Uuid, at: number): UnsentChange =>
  changeUpload(file, at, (row) =>
    row.state === "failed" || row.state === "cancelled" ? row : { ...row, state: "failed" },
  );

export const removeUpload = (file: Uuid): UnsentChange => toRemoval("uploads", file);
