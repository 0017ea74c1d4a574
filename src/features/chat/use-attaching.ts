import { type ClipboardEvent, type ComponentProps, type ComponentType, useCallback, useState } from "react";
import { showToast } from "../../components/toast";
import { t } from "../../i18n/setup";
import type AttachSheet from "./attach-sheet";
import type CameraSheet from "./camera-sheet";
import { loadOrTell } from "./later";

const filesMax = 30; // at a time

type Layers = {
  Sheet?: ComponentType<ComponentProps<typeof AttachSheet>> | undefined;
  Camera?: ComponentType<ComponentProps<typeof CameraSheet>> | undefined;
};

/** Text that was copied with a picture of itself (from an office program) is text. */
const isText = ({ types }: DataTransfer): boolean => types.includes("text/plain") && types.includes("text/html");

/** What was chosen, pasted, dropped or photographed waits in a sheet, whose code is fetched when it is first needed. */
export const useAttaching = () => {
  const [files, setFiles] = useState<File[]>([]);
  const [layers, setLayers] = useState<Layers>({});

  const add = useCallback(async (more: File[]) => {
    if (more.length === 0) return;
    const sheet = await loadOrTell(() => import("./attach-sheet"));
    if (!sheet) return;
    setLayers({ Sheet: sheet.default });
    setFiles((before) => {
      const all = [...before, ...more];
      if (all.length > filesMax) {
        showToast({ tone: "danger", title: t("common.error"), message: t("chat.attach.tooMany", { max: filesMax }) });
      }
      return all.slice(0, filesMax);
    });
  }, []);

  const close = useCallback(() => {
    setLayers({});
    setFiles([]);
  }, []);

  return {
    files,
    ...layers,
    add,
    close,
    remove: useCallback((file: File) => setFiles((files) => files.filter((other) => other !== file)), []),
    async openCamera() {
      const camera = await loadOrTell(() => import("./camera-sheet"));
      if (camera) setLayers({ Camera: camera.default });
    },
    onPaste(event: ClipboardEvent) {
      const pasted = [...event.clipboardData.files];
      if (pasted.length === 0 || isText(event.clipboardData)) return;
      event.preventDefault();
      void add(pasted);
    },
  };
};
