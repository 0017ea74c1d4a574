import { type ComponentProps, type ComponentType, useCallback, useEffect, useRef, useState } from "react";
import type CameraSheet from "#components/overlays/camera-sheet.tsx";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { cleanFileName } from "#contract/files.ts";
import type { ConversationId } from "#contract/ids.ts";
import { waitForTakeover } from "#lib/browser/first-view.ts";
import { isFreshFile } from "#lib/media/fresh-file.ts";
import { hasAttachmentDraft, openAttachmentDraft } from "#sync/actions/drafts.ts";
import type { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { trackDraftSave } from "#sync/drafts/pending-saves.ts";
import type { Draft } from "#sync/store/view-models.ts";
import type AttachSheet from "./attach-sheet.tsx";
import { attachedFilesMax } from "./chosen-files.ts";

type LoadedDialogs = {
  Sheet?: ComponentType<ComponentProps<typeof AttachSheet>> | undefined;
  Camera?: ComponentType<ComponentProps<typeof CameraSheet>> | undefined;
};

type AttachmentDraft = {
  files: File[];
  captions: ReadonlyMap<File, string>;
  isOriginal: boolean;
  isOverLimit: boolean;
};
const emptyDraft: AttachmentDraft = { files: [], captions: new Map(), isOriginal: false, isOverLimit: false };

/** The file under its sanitised name, so that the preview shows the name that is sent. */
const withCleanName = (file: File): File => {
  const name = cleanFileName(file.name);
  return name === file.name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });
};

/** Files that were chosen from those of the device: discarding them loses nothing. */
const filesOfDevice = new WeakSet<File>();

/** Puts the files of the saved draft before those chosen since. */
const mergeDrafts = (saved: Draft, { files, captions, isOriginal }: AttachmentDraft): AttachmentDraft => ({
  files: [...saved.files, ...files].slice(0, attachedFilesMax),
  captions: new Map([...saved.captions, ...captions]),
  isOriginal: saved.isOriginal || isOriginal,
  isOverLimit: saved.files.length + files.length > attachedFilesMax,
});

/**
 * Attachment draft of a chat: files that were chosen, pasted, dropped or photographed, shown in a lazily loaded sheet.
 * The draft is saved on the device until it is sent or discarded, and offered again after a page crash or when the user
 * returns to the chat.
 */
export const useAttachmentDraft = (conversation: ConversationId) => {
  const [draft, setDraft] = useState(emptyDraft);
  const [dialogs, setDialogs] = useState<LoadedDialogs>({});
  /** The draft exists in this page only. */
  const [isNotKept, setNotKept] = useState(false);
  const keeper = useRef<Promise<DraftKeeper | undefined>>(undefined);
  const latest = useRef(emptyDraft);
  const isUnmounted = useRef(false);

  const setLatest = useCallback((next: AttachmentDraft) => {
    latest.current = next;
    setDraft(next);
  }, []);

  const showSheet = useCallback(async (): Promise<boolean> => {
    const sheet = await loadOrShowToast(() => import("./attach-sheet.tsx"));
    if (sheet && latest.current.files.length > 0) setDialogs({ Sheet: sheet.default });
    return sheet !== undefined;
  }, []);

  /** Opens the storage of this draft and merges a draft that is saved there already. */
  const openKeeper = useCallback((): Promise<DraftKeeper | undefined> => {
    const handleRestored = (saved: Draft) => {
      setLatest(mergeDrafts(saved, latest.current));
      void showSheet();
    };
    keeper.current ??= openAttachmentDraft(conversation, handleRestored, () => setNotKept(true));
    return keeper.current;
  }, [conversation, setLatest, showSheet]);

  const change = useCallback(
    (next: AttachmentDraft) => {
      if (isUnmounted.current) return;
      setLatest(next);
      void openKeeper().then((openedKeeper) => openedKeeper?.save({ ...latest.current, text: "", to: [] }));
    },
    [setLatest, openKeeper],
  );

  const add = useCallback(
    async (more: File[]) => {
      if (more.length === 0) return;
      const added = more.map(withCleanName);
      for (const file of added) if (!isFreshFile(file)) filesOfDevice.add(file);
      const all = [...latest.current.files, ...added];
      change({ ...latest.current, files: all.slice(0, attachedFilesMax), isOverLimit: all.length > attachedFilesMax });
      if (await showSheet()) return;
      // The sheet could not be loaded, and a toast says so: take the files out again.
      change({ ...latest.current, files: latest.current.files.filter((file) => !added.includes(file)) });
    },
    [change, showSheet],
  );

  useEffect(() => {
    isUnmounted.current = false;
    const offerSavedDraft = async () => {
      await waitForTakeover();
      if ((await hasAttachmentDraft(conversation)) && !isUnmounted.current) await openKeeper();
    };
    offerSavedDraft().catch((error: unknown) => console.warn("the attachment draft cannot be read", error));
    return () => {
      isUnmounted.current = true;
      trackDraftSave(
        conversation,
        keeper.current?.then((openedKeeper) => openedKeeper?.close()),
      );
      keeper.current = undefined;
    };
  }, [conversation, openKeeper]);

  const close = useCallback(() => {
    setDialogs({});
    setLatest(emptyDraft);
    setNotKept(false);
    void keeper.current?.then((openedKeeper) => openedKeeper?.discard());
    keeper.current = undefined;
  }, [setLatest]);

  return {
    ...draft,
    ...dialogs,
    isNotKept,
    /** A file may exist nowhere else: it was just photographed or pasted, or comes from a saved draft. */
    hasOnlyCopy: draft.files.some((file) => !filesOfDevice.has(file)),
    add,
    close,
    remove: useCallback(
      (file: File) => {
        const { files } = latest.current;
        change({ ...latest.current, files: files.filter((other) => other !== file), isOverLimit: false });
      },
      [change],
    ),
    setCaption: useCallback(
      (file: File, caption: string) => {
        change({ ...latest.current, captions: new Map(latest.current.captions).set(file, caption) });
      },
      [change],
    ),
    setOriginal: useCallback((isOriginal: boolean) => change({ ...latest.current, isOriginal }), [change]),
    /** Saves this draft, so that it can be sent. */
    getSavedDraft: useCallback(async () => (await keeper.current)?.prepareToSend(), []),
    async openCamera() {
      const camera = await loadOrShowToast(() => import("#components/overlays/camera-sheet.tsx"));
      if (camera) setDialogs({ Camera: camera.default });
    },
    closeCamera: useCallback(() => setDialogs({}), []),
  };
};
