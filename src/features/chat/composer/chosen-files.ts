/** Maximum number of files in one attachment draft. */
export const attachedFilesMax = 30;

/** Whether the clipboard holds formatted text: office programs add an image of the copied text. */
const isFormattedText = ({ types }: DataTransfer): boolean =>
  types.includes("text/plain") && types.includes("text/html");

/** Files of a paste event; empty if text was pasted. */
export const listPastedFiles = (data: DataTransfer): File[] => (isFormattedText(data) ? [] : [...data.files]);

/** Files of a drop event, and whether folders were among them, which have no content of their own. */
export const listDroppedFiles = ({ items }: DataTransfer): { files: File[]; hasFolder: boolean } => {
  const dropped = [...items].filter(({ kind }) => kind === "file");
  const folders = dropped.filter((item) => item.webkitGetAsEntry()?.isDirectory);
  const files = dropped.flatMap((item) => (folders.includes(item) ? [] : (item.getAsFile() ?? [])));
  return { files, hasFolder: folders.length > 0 };
};
