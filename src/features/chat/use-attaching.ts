import { type ComponentProps, type ComponentType, useCallback, useEffect, useRef, useState } from "react";
import { cleanFileName } from "../../../contract/files";
import type { ConversationId } from "../../../contract/ids";
import type CameraSheet from "../../components/camera-sheet";
import { loadOrTell } from "../../components/load-or-tell";
import { type ChoiceKeeper, hasChoice, openChoice } from "../../sync/actions";
import type AttachSheet from "./attach-sheet";
import { filesMax } from "./files-max";

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

const warn = (error: unknown): void => console.warn("what is chosen is not kept", error);

/**
 * What was chosen, pasted, dropped or photographed waits in a sheet, whose code is fetched when it is first needed.
 * It is kept on the phone until it is sent or given up: a page that died meanwhile opens with it again.
 */
export const useAttaching = (conversation: ConversationId) => {
  const [chosen, setChosen] = useState(nothing);
  const [layers, setLayers] = useState<Layers>({});
  const keeper = useRef<Promise<ChoiceKeeper | undefined>>(undefined);
  const { files, captions, isOriginal } = chosen;

  const openKeeper = useCallback((): Promise<ChoiceKeeper | undefined> => {
    keeper.current ??= openChoice(conversation)
      .catch(warn)
      .then((opened) => opened ?? undefined);
    return keeper.current;
  }, [conversation]);

  const put = useCallback(async (change: (before: Chosen) => Chosen) => {
    const sheet = await loadOrTell(() => import("./attach-sheet"));
    if (!sheet) return;
    setLayers({ Sheet: sheet.default });
    setChosen(change);
  }, []);

  const add = useCallback(
    async (more: File[]) => {
      if (more.length === 0) return;
      await put((before) => {
        const all = [...before.files, ...more.map(named)];
        return { ...before, files: all.slice(0, filesMax), isCut: all.length > filesMax };
      });
    },
    [put],
  );

  useEffect(() => {
    let isCurrent = true;
    const offerKept = async () => {
      if (!(await hasChoice(conversation)) || !isCurrent) return;
      const found = await (await openKeeper())?.find();
      if (!found || found.files.length === 0 || !isCurrent) return;
      await put((before) => ({
        files: [...found.files, ...before.files].slice(0, filesMax),
        captions: new Map([...found.captions, ...before.captions]),
        isOriginal: found.isOriginal || before.isOriginal,
        isCut: false,
      }));
    };
    offerKept().catch(warn);
    return () => {
      isCurrent = false;
      void keeper.current?.then((opened) => opened?.close());
      keeper.current = undefined;
    };
  }, [conversation, openKeeper, put]);

  useEffect(() => {
    if (files.length === 0) return;
    void openKeeper().then((opened) => opened?.keep({ files, captions, isOriginal, text: "", to: [] }));
  }, [files, captions, isOriginal, openKeeper]);

  const close = useCallback(() => {
    setLayers({});
    setChosen(nothing);
    void keeper.current?.then((opened) => opened?.drop());
    keeper.current = undefined;
  }, []);

  return {
    ...chosen,
    ...layers,
    add,
    close,
    remove: useCallback((file: File) => {
      setChosen((before) => ({ ...before, files: before.files.filter((other) => other !== file), isCut: false }));
    }, []),
    caption: useCallback((file: File, caption: string) => {
      setChosen((before) => ({ ...before, captions: new Map(before.captions).set(file, caption) }));
    }, []),
    setOriginal: useCallback((isOriginal: boolean) => setChosen((before) => ({ ...before, isOriginal })), []),
    /** Where this page keeps it. */
    kept: useCallback(async () => (await keeper.current)?.kept, []),
    async openCamera() {
      const camera = await loadOrTell(() => import("../../components/camera-sheet"));
      if (camera) setLayers({ Camera: camera.default });
    },
  };
};
