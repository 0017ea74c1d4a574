/** Text that was copied with a picture of itself (from an office program) is text. */
const isCopiedText = ({ types }: DataTransfer): boolean => types.includes("text/plain") && types.includes("text/html");

/** The files of what is pasted, when it is files. */
export const listPastedFiles = (data: DataTransfer): File[] => (isCopiedText(data) ? [] : [...data.files]);
