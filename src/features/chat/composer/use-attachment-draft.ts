import { type ComponentProps, type ComponentType, useCallback, useEffect, useRef, useState } from "react";
import type CameraSheet from "#components/overlays/camera-sheet.tsx";
import { loadOrTell } from "#components/overlays/load-with-toast.ts";
import { cleanFileName } from "#contract/files.ts";
import type { ConversationId } from "#contract/ids.ts";
import { type Choice, type ChoiceKeeper, hasChoice, openChoice } from "#sync/actions.ts";
import type AttachSheet from "./attach-sheet.tsx";
import { filesMax } from "./files-max.ts";

type Layers = {
  Sheet?: ComponentType<ComponentProps<typeof AttachSheet>> | undefined;
  Camera?: ComponentType<ComponentProps<typeof CameraSheet>> | undefined;
};

type Chosen = { files: File[]; captions: ReadonlyMap<File, string>; isOriginal: boolean; isCut: boolean };
const nothing: Chosen = { files: [], captions: new Map(), isOriginal: false, isCut: false };

/** Under the name it goes by: what is looked at before sending is what arrives. */
const named = (file: File): File => {
  const name = cleanFileName(file.name);
  return name === file.name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });
};

/** What was chosen, put before what was chosen since. */
const join = (first: Choice, { files, captions, isOriginal }: Chosen): Chosen => ({
  files: [...first.files, ...files].slice(0, filesMax),
  captions: new Map([...first.captions, ...captions]),
  isOriginal: first.isOriginal || isOriginal,
  isCut: false,
});

const warn = (error: unknown): void => console.warn("what is chosen is not kept", error);

/** Chats that were left before what was chosen there is kept: the code that keeps it comes late, too. */
const leaving = new Map<ConversationId, Promise<void>>();

/**
 * What was chosen, pasted, dropped or photographed waits in a sheet, whose code is fetched when it is first needed.
 * It is kept on the phone until it is sent or given up: whether its page died or its chat was left meanwhile, before the
 * sheet was here too, it is offered again.
 */
export const useAttaching = (conversation: ConversationId) => {
  const [chosen, setChosen] = useState(nothing);
  const [layers, setLayers] = useState<Layers>({});
  const keeper = useRef<Promise<ChoiceKeeper | undefined>>(undefined);
  const latest = useRef(nothing);
  const isLeft = useRef(false);

  const put = useCallback((next: Chosen) => {
    latest.current = next;
    setChosen(next);
  }, []);

  const showSheet = useCallback(async (): Promise<boolean> => {
    const sheet = await loadOrTell(() => import("./attach-sheet.tsx"));
    if (sheet && latest.current.files.length > 0) setLayers({ Sheet: sheet.default });
    return sheet !== undefined;
  }, []);

  /** What is kept there already is chosen again with it. */
  const openKeeper = useCallback((): Promise<ChoiceKeeper | undefined> => {
    const open = async () => {
      await leaving.get(conversation);
      const opened = await openChoice(conversation);
      const found = await opened?.find().catch(warn);
      if (!found || found.files.length === 0) return opened;
      put(join(found, latest.current));
      void showSheet();
      return opened;
    };
    keeper.current ??= open()
      .catch(warn)
      .then((opened) => opened ?? undefined);
    return keeper.current;
  }, [conversation, put, showSheet]);

  const change = useCallback(
    (next: Chosen) => {
      if (isLeft.current) return;
      put(next);
      void openKeeper().then((opened) => opened?.keep({ ...latest.current, text: "", to: [] }));
    },
    [put, openKeeper],
  );

  const add = useCallback(
    async (more: File[]) => {
      if (more.length === 0) return;
      const added = more.map(named);
      const all = [...latest.current.files, ...added];
      change({ ...latest.current, files: all.slice(0, filesMax), isCut: all.length > filesMax });
      if (await showSheet()) return;
      // That they cannot be taken now is said.
      change({ ...latest.current, files: latest.current.files.filter((file) => !added.includes(file)) });
    },
    [change, showSheet],
  );

  useEffect(() => {
    isLeft.current = false;
    const offerKept = async () => {
      await leaving.get(conversation);
      if ((await hasChoice(conversation)) && !isLeft.current) await openKeeper();
    };
    offerKept().catch(warn);
    return () => {
      isLeft.current = true;
      if (!keeper.current) return;
      const closed = keeper.current
        .then((opened) => opened?.close())
        .catch(warn)
        .then(() => void (leaving.get(conversation) === closed && leaving.delete(conversation)));
      leaving.set(conversation, closed);
      keeper.current = undefined;
    };
  }, [conversation, openKeeper]);

  const close = useCallback(() => {
    setLayers({});
    put(nothing);
    void keeper.current?.then((opened) => opened?.drop());
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
        change({ ...latest.current, files: files.filter((other) => other !== file), isCut: false });
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
    kept: useCallback(async () => (await keeper.current)?.kept, []),
    async openCamera() {
      const camera = await loadOrTell(() => import("#components/overlays/camera-sheet.tsx"));
      if (camera) setLayers({ Camera: camera.default });
    },
    closeCamera: useCallback(() => setLayers({}), []),
  };
};
