/** The end of a name, which says what a tap will open: ".pdf", or nothing. */
export const getFileExtension = (name: string): string => {
  const dot = name.lastIndexOf(".");
  return dot > 0 && name.length - dot <= 13 ? name.slice(dot) : "";
};

/** Gives a file to the browser to keep. */
export const saveToDevice = (url: string, name: string): void => {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
};
