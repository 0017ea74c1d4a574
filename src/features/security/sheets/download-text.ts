const urlLifetimeMs = 10_000; // the browser has read the blob by then

/** Downloads a text as a plain-text file. */
export const downloadText = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), urlLifetimeMs);
};

let printFrame: HTMLIFrameElement | undefined;

/** Removes the print frame. Needed explicitly: some browsers never fire `afterprint`. */
export const removePrintFrame = (): void => {
  printFrame?.remove();
  printFrame = undefined;
};

/** Prints a text without the surrounding page, from an iframe. */
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
  const block = paper.createElement("pre");
  block.textContent = text;
  paper.body.append(block);
  window.addEventListener("afterprint", removePrintFrame);
  window.print();
};
