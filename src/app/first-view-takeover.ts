import type { ConversationId } from "#contract/ids.ts";
import {
  type FirstViewScreen,
  findFirstView,
  removeFirstView,
  subscribeDrawnScreens,
} from "#lib/browser/first-view.ts";
import { getSession, subscribeSession } from "#lib/session/session.ts";
import { joinDrafts } from "#lib/text/join-drafts.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { currentEngine, type SyncEngine } from "#sync/engine/engine.ts";
import { listUnsent } from "#sync/unsent/messages.ts";

const takeoverTimeoutMs = 20_000; // an app without the awaited content shows its own state by then

type Field = HTMLInputElement | HTMLTextAreaElement;

const sentMessageWaitMs = 1_000;
const compositionPauseMs = 3_000; // some keyboards keep a word as a composition while nobody types

const waitForFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/** Reads the texts that the view has sent since the last call, so that the app shows them. */
const createSentTextReader = (view: HTMLElement, engine: SyncEngine | undefined) => {
  let last: string | undefined;
  return async (): Promise<void> => {
    const { sent } = view.dataset;
    if (!engine || sent === last) return;
    last = sent;
    // Not longer: the device may answer slowly.
    await Promise.race([
      engine.client.unsent.refresh(),
      new Promise((resolve) => setTimeout(resolve, sentMessageWaitMs)),
    ]);
  };
};

/** Waits until the app shows a message, which it may do some frames after the message was stored. */
const waitForMessage = async (root: HTMLElement, key: string): Promise<void> => {
  const startedAt = performance.now();
  while (!root.querySelector(`[data-key="${key}"]`) && performance.now() - startedAt < sentMessageWaitMs)
    await waitForFrame();
};

/**
 * Whether an input method is composing, and not just pausing: a field that receives half a composition keeps it as text,
 * and the rest is added instead of replacing it. The view's script notes the time of its last change.
 */
const isComposing = (view: HTMLElement): boolean => {
  const changedAt = view.dataset["composed"];
  return view.isConnected && changedAt !== undefined && performance.now() - Number(changedAt) < compositionPauseMs;
};

/** Sets a field of the app as typing would, so that its component notices. */
const typeInto = (field: Field, text: string): void => {
  const prototype = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
  Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(field, text);
  field.dispatchEvent(new Event("input", { bubbles: true }));
};

/** Moves what was typed, focus and selection. `draft`: stored text that the field of the first view lacks. */
const moveInput = (from: Field, to: Field, draft: string): void => {
  const text = joinDrafts(draft, from.value);
  const offset = text.length - from.value.length;
  const isFocused = document.activeElement === from;
  if (from.value !== from.defaultValue) typeInto(to, text);
  if (isFocused) {
    to.focus({ preventScroll: true });
    const { selectionStart, selectionEnd, selectionDirection } = from;
    to.setSelectionRange(offset + (selectionStart ?? 0), offset + (selectionEnd ?? 0), selectionDirection ?? undefined);
  }
  if (text !== "") to.scrollTop = draft === "" ? from.scrollTop : to.scrollHeight;
};

/** Scroll position of the list, or in a chat the distance from its end. */
const readScrollPosition = (view: HTMLElement): number => view.querySelector(".overflow-y-auto")?.scrollTop ?? 0;

const applyScrollPosition = (root: HTMLElement, scrolledPx: number): void => {
  const list = root.querySelector("[data-screen] .overflow-y-auto");
  if (list && scrolledPx !== 0) list.scrollTop += scrolledPx;
};

/** Repeats the last press of a button that did nothing yet. */
const repeatPress = (pressed: Element | null, root: HTMLElement): void => {
  if (pressed instanceof HTMLFormElement) root.querySelector<HTMLFormElement>("form[data-page-end]")?.requestSubmit();
  else if (pressed) {
    const label = CSS.escape(pressed.getAttribute("aria-label") ?? "");
    // Contacts may have the same name: their rows differ in the path.
    const path = pressed.closest("li")?.querySelector("a")?.getAttribute("href");
    const place = path ? root.querySelector(`li a[href="${CSS.escape(path)}"]`)?.closest("li") : root;
    place?.querySelector<HTMLElement>(`button[aria-label="${label}"]`)?.click();
  }
};

/**
 * `path`: page of the first view. Text and presses for it are not moved to another page that was opened meanwhile.
 */
const takeOver = async (view: HTMLElement, root: HTMLElement, path: string): Promise<void> => {
  const field = view.querySelector("textarea");
  const conversation: ConversationId = view.dataset["conversation"] ?? "";
  const engine = currentEngine.get();
  const readSentTexts = createSentTextReader(view, engine);
  await readSentTexts();
  const sentText = engine && listUnsent(engine.client.unsent, conversation).at(-1);
  if (sentText) await waitForMessage(root, sentText.cid);
  // The list measures its rows after the first frame.
  const drawn = waitForFrame().then(waitForFrame);
  await drawn;
  do {
    while (isComposing(view)) await waitForFrame();
    await readSentTexts();
  } while (isComposing(view)); // begun meanwhile
  if (!view.isConnected) return; // its person signed out meanwhile
  const isDraftKnown = view.dataset["draft"] !== undefined;
  const draft = field && engine && !isDraftKnown ? engine.drafts.read(conversation) : "";
  const isSamePage = location.pathname === path;
  // Read before anything changes: afterwards it would take a layout of the whole page.
  const scrolledPx = readScrollPosition(view);
  root.removeAttribute("inert");
  const composer = isSamePage ? root.querySelector<HTMLTextAreaElement>("form[data-page-end] textarea") : null;
  if (field && composer) moveInput(field, composer, draft);
  else if (field && field.value !== field.defaultValue)
    engine?.drafts.save(conversation, joinDrafts(draft, field.value));
  const [search, searchField] = [view, root].map((part) => part.querySelector<HTMLInputElement>("input[type=search]"));
  if (search && searchField) moveInput(search, searchField, "");
  applyScrollPosition(root, scrolledPx);
  const pressed = view.querySelector("[data-early]");
  removeFirstView(view);
  if (isSamePage) repeatPress(pressed, root);
  if (!engine || !field) return;
  const { platform, me, unsent } = engine.client;
  unsent.journalPending();
  new UnsentJournal(me, platform.localStorage, view.dataset["writer"] ?? "").clear("drafts", conversation);
  await unsent.endFirstView();
  engine.client.notifyChanged("outbox");
};

/**
 * Replaces the first view by the app once the app has drawn the same screen: input, caret, scroll position and the last
 * pressed button move over, so that the person notices nothing.
 */
export const startFirstViewTakeover = (): void => {
  const [view, root] = [findFirstView(), document.getElementById("root")];
  if (!view || !root) return;
  const awaited: FirstViewScreen = view.dataset["conversation"] ? "chat" : "list";
  const path = location.pathname;
  let isStarted = false;
  const start = () => {
    if (isStarted) return;
    isStarted = true;
    void takeOver(view, root, path).catch((error: unknown) => {
      removeFirstView(view);
      root.removeAttribute("inert");
      throw error;
    });
  };
  // Nothing of a person stays on screen after the session has ended.
  subscribeSession(() => {
    if (getSession()?.userId === view.dataset["user"]) return;
    isStarted = true;
    if (!view.isConnected) return;
    removeFirstView(view);
    root.removeAttribute("inert");
  });
  subscribeDrawnScreens((screen) => screen === awaited && start());
  const startOnceDrawn = () => {
    if (root.querySelector("main,[role=main]")) start();
    else setTimeout(startOnceDrawn, 1_000); // an app that waits for its store leaves the view
  };
  setTimeout(startOnceDrawn, takeoverTimeoutMs);
};
