import { useEffect, useEffectEvent } from "react";

type LeaveLayer = () => void;
/** History entry: react-router's index and the number of open layers it stands for. */
type HistoryEntry = { index: number | undefined; depth: number };

const layerRefusalMs = 300; // a layer that is still open after this time has refused to close

/** Open layers above the page, topmost last. Back navigation closes them first. */
const layers: LeaveLayer[] = [];

const readHistoryState = (): Record<string, unknown> => {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null ? { ...state } : {};
};

const readHistoryEntry = (): HistoryEntry => {
  const { idx, layer } = readHistoryState();
  return { index: typeof idx === "number" ? idx : undefined, depth: typeof layer === "number" ? layer : 0 };
};

let currentEntry: HistoryEntry = { index: undefined, depth: 0 };

const updateCurrentEntry = (): void => {
  currentEntry = readHistoryEntry();
};

/** Gives every open layer its own history entry above the page's entry, with the same URL. */
const pushLayerEntries = (): void => {
  const { index, depth } = readHistoryEntry();
  // The browser is at another entry, and its event follows: it compares that entry with the former one.
  if (index !== currentEntry.index || depth !== currentEntry.depth) return;
  while (currentEntry.depth < layers.length) {
    history.pushState({ ...readHistoryState(), layer: currentEntry.depth + 1 }, "");
  }
};

/**
 * Back navigation closes the layers above the target entry. Entries of layers that were closed in another way are not
 * removed immediately, because a navigation may follow; they are skipped on the next back navigation.
 */
const handlePopState = (): void => {
  const previous = currentEntry;
  updateCurrentEntry();
  const isSamePage = previous.index === currentEntry.index;
  if (!isSamePage || currentEntry.depth > previous.depth) return;
  const closing = layers.slice(currentEntry.depth).reverse();
  if (closing.length === 0) {
    history.back();
    return;
  }
  for (const leave of closing) leave();
  setTimeout(pushLayerEntries, layerRefusalMs);
};

/**
 * Records each history entry when the router creates it. The router's own listeners run only after the screen rendered;
 * a back navigation before that would be mistaken for closing a layer.
 */
const watchHistoryMethod = (name: "pushState" | "replaceState"): void => {
  const change = history[name].bind(history);
  history[name] = (...entry) => {
    change(...entry);
    updateCurrentEntry();
  };
};

// A page may be reloaded at the entry of a layer. The capture phase sees an entry before the router changes it.
if ("history" in globalThis) {
  updateCurrentEntry();
  watchHistoryMethod("pushState");
  watchHistoryMethod("replaceState");
  addEventListener("popstate", handlePopState, true);
}

/** Registers a layer: back navigation calls `leave` until the returned function is called. */
const registerLayer = (leave: LeaveLayer): (() => void) => {
  layers.push(leave);
  queueMicrotask(pushLayerEntries); // one layer may replace another
  return () => {
    layers.splice(layers.lastIndexOf(leave), 1);
  };
};

/**
 * Makes the component a layer above the page while it is mounted: back navigation calls `onLeave` instead of leaving
 * the page.
 */
export const useBackButton = (onLeave: LeaveLayer): void => {
  const leave = useEffectEvent(onLeave);
  useEffect(() => registerLayer(() => leave()), []);
};
