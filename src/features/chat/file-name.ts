/** A name in two: what may be shortened, and its end, which says what a tap will open. */
export const splitName = (name: string): { stem: string; end: string } => {
  const dot = name.lastIndexOf(".");
  return dot > 0 && name.length - dot <= 13
    ? { stem: name.slice(0, dot), end: name.slice(dot) }
    : { stem: name, end: "" };
};

/** Gives a file to the browser to keep. */
export const saveAs = (url: string, name: string): void => {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
};
