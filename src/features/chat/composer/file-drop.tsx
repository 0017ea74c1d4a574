import { type DragEvent as ReactDragEvent, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { pageCover, useLayer } from "#components/overlays/cover.ts";
import { showToast } from "#components/overlays/toast.tsx";

const isFileDrag = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

/** Files of a drop event, and whether folders were among them, which have no content of their own. */
const listDroppedFiles = ({ items }: DataTransfer): { files: File[]; hasFolder: boolean } => {
  const dropped = [...items].filter(({ kind }) => kind === "file");
  const folders = dropped.filter((item) => item.webkitGetAsEntry()?.isDirectory);
  const files = dropped.flatMap((item) => (folders.includes(item) ? [] : (item.getAsFile() ?? [])));
  return { files, hasFolder: folders.length > 0 };
};

/**
 * Drop target that covers the chat while files are dragged over the window. A drop elsewhere is ignored, because the
 * browser would open the file.
 */
export function FileDropZone({ onFiles }: { onFiles: (files: File[]) => void }) {
  const { t } = useTranslation();
  const [isShown, setShown] = useState(false);
  useLayer(pageCover, isShown);
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!isFileDrag(event)) return;
      event.preventDefault();
      setShown(true);
    };
    const onDragLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setShown(false);
    };
    const onDrop = (event: DragEvent) => {
      if (isFileDrag(event)) event.preventDefault();
      setShown(false);
    };
    document.addEventListener("dragover", onDragOver);
    document.addEventListener("dragleave", onDragLeave);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onDragOver);
      document.removeEventListener("dragleave", onDragLeave);
      document.removeEventListener("drop", onDrop);
    };
  }, []);
  const takeFiles = (event: ReactDragEvent) => {
    const { files, hasFolder } = listDroppedFiles(event.dataTransfer);
    if (hasFolder) showToast({ tone: "danger", title: t("common.error"), message: t("chat.attach.folder") });
    onFiles(files);
  };
  if (!isShown) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping needs a pointer; the keyboard uses the attach button
    <div className="absolute inset-0 z-3 grid place-items-center bg-bg p-4" onDrop={takeFiles}>
      <p className="pointer-events-none grid size-full place-content-center justify-items-center gap-3 rounded-bubble border-2 border-dashed border-accent text-lg font-semibold text-accent">
        <span className="i-ph-tray-arrow-down text-5xl" aria-hidden="true" />
        {t("chat.attach.drop")}
      </p>
    </div>
  );
}
