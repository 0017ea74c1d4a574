import type { Page } from "@playwright/test";

type AttachmentDraft = { files: { name: string; caption: string }[]; text: string; to: string[]; audience?: string };

/** All attachment drafts stored in this browser. */
export const readAttachmentDrafts = (page: Page): Promise<AttachmentDraft[]> =>
  page.evaluate(async () => {
    const result = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const names = (await indexedDB.databases()).map(({ name = "" }) => name);
    const db = await result(indexedDB.open(names.find((name) => /^lisolo-[\da-f-]{36}-unsent$/.test(name)) ?? ""));
    const rows: AttachmentDraft[] = await result(db.transaction("attachments").objectStore("attachments").getAll());
    db.close();
    return rows;
  });
