/** Extension of a file name with its dot, e.g. ".pdf"; empty if there is none. */
export const getFileExtension = (name: string): string => {
  const dot = name.lastIndexOf(".");
  return dot > 0 && name.length - dot <= 13 ? name.slice(dot) : "";
};

/** Saves a file through the download of the browser. */
export const saveToDevice = (url: string, name: string): void => {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
};
