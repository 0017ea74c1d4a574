import { type ComponentProps, type ComponentType, useCallback, useEffect, useRef, useState } from "react";
import type CameraSheet from "#components/overlays/camera-sheet.tsx";
import { loadOrShowToast } from "#components/overlays/load-with-toast.ts";
import { cleanFileName } from "#contract/files.ts";
import type { ConversationId } from "#contract/ids.ts";
import { type Draft, type DraftKeeper, hasAttachmentDraft, openAttachmentDraft } from "#sync/actions.ts";
import type AttachSheet from "./attach-sheet.tsx";
import { attachedFilesMax } from "./files-max.ts";

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

/** Under the name it goes by: what is looked at before sending is what arrives. */
const withCleanName = (file: File): File => {
  const name = cleanFileName(file.name);
  return name === file.name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });
};

/** What was chosen, put before what was chosen since. */
const mergeDrafts = (first: Draft, { files, captions, isOriginal }: AttachmentDraft): AttachmentDraft => ({
  files: [...first.files, ...files].slice(0, attachedFilesMax),
  captions: new Map([...first.captions, ...captions]),
  isOriginal: first.isOriginal || isOriginal,
  isOverLimit: false,
});

const warnDraftNotSaved = (error: unknown): void => console.warn("what is chosen is not kept", error);

/** Chats that were left before what was chosen there is kept: the code that keeps it comes late, too. */
const closingDraftKeepers = new Map<ConversationId, Promise<void>>();

/**
 * What was chosen, pasted, dropped or photographed waits in a sheet, whose code is fetched when it is first needed.
 * It is kept on the phone until it is sent or given up: whether its page died or its chat was left meanwhile, before the
 * sheet was here too, it is offered again.
 */
export const useAttachmentDraft = (conversation: ConversationId) => {
  const [chosen, setChosen] = useState(emptyDraft);
  const [layers, setLayers] = useState<LoadedDialogs>({});
  const keeper = useRef<Promise<DraftKeeper | undefined>>(undefined);
  const latest = useRef(emptyDraft);
  const isLeft = useRef(false);

  const put = useCallback((next: AttachmentDraft) => {
    latest.current = next;
    setChosen(next);
  }, []);

  const showSheet = useCallback(async (): Promise<boolean> => {
    const sheet = await loadOrShowToast(() => import("./attach-sheet.tsx"));
    if (sheet && latest.current.files.length > 0) setLayers({ Sheet: sheet.default });
    return sheet !== undefined;
  }, []);

  /** What is kept there already is chosen again with it. */
  const openKeeper = useCallback((): Promise<DraftKeeper | undefined> => {
    const open = async () => {
      await closingDraftKeepers.get(conversation);
      const opened = await openAttachmentDraft(conversation);
      const found = await opened?.load().catch(warnDraftNotSaved);
      if (!found || found.files.length === 0) return opened;
      put(mergeDrafts(found, latest.current));
      void showSheet();
      return opened;
    };
    keeper.current ??= open()
      .catch(warnDraftNotSaved)
      .then((opened) => opened ?? undefined);
    return keeper.current;
  }, [conversation, put, showSheet]);

  const change = useCallback(
    (next: AttachmentDraft) => {
      if (isLeft.current) return;
      put(next);
      void openKeeper().then((opened) => opened?.save({ ...latest.current, text: "", to: [] }));
    },
    [put, openKeeper],
  );

  const add = useCallback(
    async (more: File[]) => {
      if (more.length === 0) return;
      const added = more.map(withCleanName);
      const all = [...latest.current.files, ...added];
      change({ ...latest.current, files: all.slice(0, attachedFilesMax), isOverLimit: all.length > attachedFilesMax });
      if (await showSheet()) return;
      // That they cannot be taken now is said.
      change({ ...latest.current, files: latest.current.files.filter((file) => !added.includes(file)) });
    },
    [change, showSheet],
  );

  useEffect(() => {
    isLeft.current = false;
    const offerKept = async () => {
      await closingDraftKeepers.get(conversation);
      if ((await hasAttachmentDraft(conversation)) && !isLeft.current) await openKeeper();
    };
    offerKept().catch(warnDraftNotSaved);
    return () => {
      isLeft.current = true;
      if (!keeper.current) return;
      const closed = keeper.current
        .then((opened) => opened?.close())
        .catch(warnDraftNotSaved)
        .then(
          () => void (closingDraftKeepers.get(conversation) === closed && closingDraftKeepers.delete(conversation)),
        );
      closingDraftKeepers.set(conversation, closed);
      keeper.current = undefined;
    };
  }, [conversation, openKeeper]);

  const close = useCallback(() => {
    setLayers({});
    put(emptyDraft);
    void keeper.current?.then((opened) => opened?.discard());
    keeper.current = undefined;
  }, [put]);

  return {
    ...chosen,
    ...layers,
    add,
    close,
    remove: useCallback(
      (file: File) => {
        const { files } = latest.current;
        change({ ...latest.current, files: files.filter((other) => other !== file), isOverLimit: false });
      },
      [change],
    ),
    caption: useCallback(
      (file: File, caption: string) => {
        change({ ...latest.current, captions: new Map(latest.current.captions).set(file, caption) });
      },
      [change],
    ),
    setOriginal: useCallback((isOriginal: boolean) => change({ ...latest.current, isOriginal }), [change]),
    /** Where this page keeps it. */
    kept: useCallback(async () => (await keeper.current)?.slot, []),
    async openCamera() {
      const camera = await loadOrShowToast(() => import("#components/overlays/camera-sheet.tsx"));
      if (camera) setLayers({ Camera: camera.default });
    },
    closeCamera: useCallback(() => setLayers({}), []),
  };
};
