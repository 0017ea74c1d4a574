import { attachmentOf } from "../../contract/conversations";
import type { Uuid } from "../../contract/ids";
import type { Tab } from "./tab";
import { getContext } from "./writing";

/** A person's word about a file on its way; the uploader does what the store says. */
export const setPaused = async (tab: Tab, cid: Uuid, isPaused: boolean): Promise<void> => {
  const { strict } = getContext(tab);
  await strict.transaction("rw", [strict.outbox, strict.uploads], async () => {
    const message = await strict.outbox.get(cid);
    const file = message && attachmentOf(message.body)?.file;
    const upload = file === undefined ? undefined : await strict.uploads.get(file);
    if (!upload) return;
    const isGoing = upload.state === "waiting" || upload.state === "uploading";
    if (isPaused ? isGoing : upload.state === "paused")
      await strict.uploads.update(upload.file, { state: isPaused ? "paused" : "waiting" });
  });
  tab.written();
};
