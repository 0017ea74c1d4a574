import { type ComponentProps, type ComponentType, useCallback, useState } from "react";
import { cleanFileName } from "../../../contract/files";
import type AttachSheet from "./attach-sheet";
import type CameraSheet from "./camera-sheet";
import { filesMax } from "./files-max";
import { loadOrTell } from "./later";

type Layers = {
  Sheet?: ComponentType<ComponentProps<typeof AttachSheet>> | undefined;
  Camera?: ComponentType<ComponentProps<typeof CameraSheet>> | undefined;
};

type Chosen = { files: File[]; isCut: boolean };
const nothing: Chosen = { files: [], isCut: false };

/** Under the name it goes by: what is looked at before sending is what arrives. */
const named = (file: File): File => {
  const name = cleanFileName(file.name);
  return name === file.name ? file : new File([file], name, { type: file.type, lastModified: file.lastModified });
};

/** What was chosen, pasted, dropped or photographed waits in a sheet, whose code is fetched when it is first needed. */
export const useAttaching = () => {
  const [{ files, isCut }, setChosen] = useState(nothing);
  const [layers, setLayers] = useState<Layers>({});

  const add = useCallback(async (more: File[]) => {
    if (more.length === 0) return;
    const sheet = await loadOrTell(() => import("./attach-sheet"));
    if (!sheet) return;
    setLayers({ Sheet: sheet.default });
    setChosen(({ files }) => {
      const all = [...files, ...more.map(named)];
      return { files: all.slice(0, filesMax), isCut: all.length > filesMax };
    });
  }, []);

  const close = useCallback(() => {
    setLayers({});
    setChosen(nothing);
  }, []);

  return {
    files,
    isCut,
    ...layers,
    add,
    close,
    remove: useCallback((file: File) => {
      setChosen(({ files }) => ({ files: files.filter((other) => other !== file), isCut: false }));
    }, []),
    async openCamera() {
      const camera = await loadOrTell(() => import("./camera-sheet"));
      if (camera) setLayers({ Camera: camera.default });
    },
  };
};
