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

/** Prints words alone, without the page around: from a frame that is there for as long as that takes. */
export const printText = (title: string, text: string): void => {
  const frame = document.createElement("iframe");
  frame.className = "sr-only";
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  document.body.append(frame);
  const { contentWindow: window, contentDocument: paper } = frame;
  if (!window || !paper) {
    frame.remove();
    return;
  }
  paper.title = title;
  const words = paper.createElement("pre");
  words.textContent = text;
  paper.body.append(words);
  window.addEventListener("afterprint", () => frame.remove());
  window.print();
};
