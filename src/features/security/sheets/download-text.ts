const urlLifetimeMs = 10_000; // by then a browser has taken what a link leads to

/** Hands over words as a file of plain text. */
export const downloadText = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), urlLifetimeMs);
};

let printFrame: HTMLIFrameElement | undefined;

/** Takes away what was printed from: some browsers never say that they are done with it. */
export const removePrintFrame = (): void => {
  printFrame?.remove();
  printFrame = undefined;
};

/** Prints words alone, without the page around, from a frame of their own. */
export const printText = (title: string, text: string): void => {
  removePrintFrame();
  const frame = document.createElement("iframe");
  frame.className = "sr-only";
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  document.body.append(frame);
  printFrame = frame;
  const { contentWindow: window, contentDocument: paper } = frame;
  if (!window || !paper) return;
  paper.title = title;
  const words = paper.createElement("pre");
  words.textContent = text;
  paper.body.append(words);
  window.addEventListener("afterprint", removePrintFrame);
  window.print();
};
