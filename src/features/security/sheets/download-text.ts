const fetchedMs = 10_000; // by then a browser has taken what a link leads to

/** Hands over words as a file of plain text. */
export const saveText = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), fetchedMs);
};

let printed: HTMLIFrameElement | undefined;

/** Takes away what was printed from: some browsers never say that they are done with it. */
export const removePrinted = (): void => {
  printed?.remove();
  printed = undefined;
};

/** Prints words alone, without the page around, from a frame of their own. */
export const printText = (title: string, text: string): void => {
  removePrinted();
  const frame = document.createElement("iframe");
  frame.className = "sr-only";
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  document.body.append(frame);
  printed = frame;
  const { contentWindow: window, contentDocument: paper } = frame;
  if (!window || !paper) return;
  paper.title = title;
  const words = paper.createElement("pre");
  words.textContent = text;
  paper.body.append(words);
  window.addEventListener("afterprint", removePrinted);
  window.print();
};
