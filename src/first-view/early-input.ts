/**
 * Input in a first view before the app has loaded. The source text of this function is the inline script of the document,
 * so it uses nothing from any module. It removes a view of another person, and writes what is typed and sent to the keys
 * of `src/sync/store/journal.ts`, where the app finds it, at once or after a reload.
 */
export const startEarlyInput = (): void => {
  const view = document.getElementById("first-view");
  if (!view?.firstChild) return;
  const { user } = view.dataset;
  const removeUnlessSignedIn = () => {
    let signedIn: unknown;
    try {
      signedIn = JSON.parse(localStorage["session"]).userId;
    } catch {
      // Nobody is signed in here.
    }
    if (signedIn === user || !view.isConnected) return;
    view.remove();
    document.getElementById("first-data")?.remove();
    document.getElementById("root")?.removeAttribute("inert");
  };
  removeUnlessSignedIn();
  if (!view.isConnected) return;
  // The session may end in another tab, or while the browser keeps this page for the back button.
  addEventListener("storage", removeUnlessSignedIn);
  addEventListener("pageshow", removeUnlessSignedIn);
  document.getElementById("root")?.setAttribute("inert", "");
  // A snapshot of another day: "14:05" and "Today" have become dates.
  const { day } = view.dataset;
  if (day && day !== new Date().toDateString()) {
    for (const element of view.querySelectorAll<HTMLElement>("[data-at]"))
      element.textContent = new Date(Number(element.dataset["at"])).toLocaleDateString(document.documentElement.lang);
  }
  // Whole pixels, as the app's virtual list measures its rows.
  const rows = [...view.querySelectorAll<HTMLElement>("#first-scroller li")];
  const heights = rows.map((row) => row.getBoundingClientRect().height);
  rows.forEach((row, index) => {
    row.style.height = `${Math.round(heights[index] ?? 0)}px`;
  });
  let sentAtMs = Number.NEGATIVE_INFINITY;
  const ignoredAfterSendMs = 600; // the second tap of a double tap on "send" does not record
  const forgetPress = () => {
    for (const pressed of view.querySelectorAll("[data-early]")) pressed.removeAttribute("data-early");
  };
  view.addEventListener("click", ({ target, timeStamp }) => {
    const button = target instanceof Element && target.closest("button");
    if (!button) return;
    const isSubmit = button.type === "submit";
    if (isSubmit && timeStamp - sentAtMs < ignoredAfterSendMs && !field?.value.trim()) return;
    forgetPress();
    if (!isSubmit || !field?.value.trim()) button.dataset["early"] = "";
  });
  view.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  const form = view.querySelector<HTMLFormElement>("#first-composer");
  const field = form?.querySelector("textarea");
  const prefix = `lisolo-${user}-`;
  const conversation = view.dataset["conversation"] ?? "";
  const show = () => {
    if (!form || !field) return;
    const hasText = field.value.trim() !== "";
    const [record, plane] = form.querySelectorAll<HTMLElement>("[type=submit] > span");
    const button = form.querySelector<HTMLElement>("[type=submit]");
    if (record) record.hidden = hasText;
    if (plane) plane.hidden = !hasText;
    const label = button?.dataset[hasText ? "send" : "record"] ?? "";
    button?.setAttribute("aria-label", label);
    button?.setAttribute("title", label);
    field.style.height = "0";
    field.style.height = `${Math.min(field.scrollHeight, 144)}px`;
  };
  const save = () => {
    show();
    try {
      if (field?.value.trim()) localStorage.setItem(`${prefix}early-${conversation}`, field.value);
      else localStorage.removeItem(`${prefix}early-${conversation}`);
    } catch {
      // No room: the text stays in the field.
    }
  };
  const send = () => {
    const text = field?.value.trim();
    if (!field || !text) return;
    try {
      let n = 1;
      for (const key of Object.keys(localStorage))
        if (key.startsWith(`${prefix}sent-`)) n = Math.max(n, JSON.parse(localStorage[key]).n + 1);
      const entry = { conversation, text, at: Date.now(), n };
      if (text.length > Number(view.dataset["maxLength"])) throw new RangeError("too long");
      localStorage.setItem(`${prefix}sent-${crypto.randomUUID()}`, JSON.stringify(entry));
    } catch {
      form?.setAttribute("data-early", ""); // the app sends it
      return;
    }
    const template = view.querySelector<HTMLTemplateElement>("#first-sent");
    const row = template?.content.cloneNode(true);
    if (row instanceof DocumentFragment) {
      const bubble = row.querySelector("bdi");
      if (bubble) bubble.textContent = text;
      view.querySelector("ol")?.append(row);
    }
    field.value = "";
    sentAtMs = performance.now();
    save();
  };
  field?.addEventListener("input", () => {
    forgetPress(); // the button sends now, and the app repeats no press made for other text
    save();
  });
  field?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  if (!field) return;
  // Text of a page that was closed before the app had loaded.
  try {
    field.value ||= localStorage.getItem(`${prefix}early-${conversation}`) ?? "";
  } catch {
    // Storage is forbidden.
  }
  show();
};
