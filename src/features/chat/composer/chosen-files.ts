/** Maximum number of files in one attachment draft. */
export const attachedFilesMax = 30;

/** Whether the clipboard holds formatted text: office programs add an image of the copied text. */
const isFormattedText = ({ types }: DataTransfer): boolean =>
  types.includes("text/plain") && types.includes("text/html");

/** Files of a paste event; empty if text was pasted. */
export const listPastedFiles = (data: DataTransfer): File[] => (isFormattedText(data) ? [] : [...data.files]);
