/** Maximum number of files in one attachment draft. */
export const attachedFilesMax = 30;

/** Whether the clipboard holds formatted text: office programs add an image of the copied text. */
const isFormattedText = ({ types }: DataTransfer): boolean =>
  types.includes("text/plain") && types.includes("text/html");

/** Files of a paste event; empty if text was pasted. */
export const listPastedFiles = (data: DataTransfer): File[] => (isFormattedText(data) ? [] : [...data.files]);

/** Files of a drop event. Folders are left out: they have no content of their own. */
export const listDroppedFiles = ({ items }: DataTransfer): File[] =>
  [...items].flatMap((item) => {
    if (item.kind !== "file" || item.webkitGetAsEntry()?.isDirectory) return [];
    return item.getAsFile() ?? [];
  });
