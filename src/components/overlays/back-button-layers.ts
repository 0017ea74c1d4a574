import { useEffect, useEffectEvent } from "react";

type LeaveLayer = () => void;
/** An entry of the history: react-router's number of it, and how many open layers it stands for. */
type HistoryEntry = { index: number | undefined; depth: number };

const layerRefusalMs = 300; // a layer that is there for so long after it was asked to go stays

/** What lies over the page and is left first by going back, the topmost last. */
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

/** Every open layer has an entry of its own above the page's, with the same address. */
const pushLayerEntries = (): void => {
  updateCurrentEntry();
  while (currentEntry.depth < layers.length) {
    history.pushState({ ...readHistoryState(), layer: currentEntry.depth + 1 }, "");
  }
};

/**
 * Going back leaves the layers above the entry it leads to. Entries of layers that were closed otherwise are not removed
 * at that moment, since a navigation may follow at once; they are passed over when somebody comes by.
 */
const handlePopState = (): void => {
  const before = currentEntry;
  updateCurrentEntry();
  const isSamePage = before.index === currentEntry.index;
  if (!isSamePage || currentEntry.depth > before.depth) return;
  const left = layers.slice(currentEntry.depth).reverse();
  if (left.length === 0) {
    history.back();
    return;
  }
  for (const leave of left) leave();
  setTimeout(pushLayerEntries, layerRefusalMs);
};

/**
 * Notes each entry as the router makes it. Its own listeners learn of a navigation when the screen is rendered: somebody
 * who goes back before would be taken for leaving a layer.
 */
const watchHistoryMethod = (name: "pushState" | "replaceState"): void => {
  const change = history[name].bind(history);
  history[name] = (...entry) => {
    change(...entry);
    updateCurrentEntry();
  };
};

// A page may be loaded anew at the entry of a layer. Capturing, to see an entry before the router changes it.
if ("history" in globalThis) {
  updateCurrentEntry();
  watchHistoryMethod("pushState");
  watchHistoryMethod("replaceState");
  addEventListener("popstate", handlePopState, true);
}

/** Lets the way back, a phone's gesture or a browser's button, call `leave` until the function it returns is called. */
const registerLayer = (leave: LeaveLayer): (() => void) => {
  layers.push(leave);
  queueMicrotask(pushLayerEntries); // one layer may give way to another
  return () => {
    layers.splice(layers.lastIndexOf(leave), 1);
  };
};

/** A layer above the page, as long as it is rendered: going back calls `onLeave` in the place of leaving the page. */
export const useBackButton = (onLeave: LeaveLayer): void => {
  const leave = useEffectEvent(onLeave);
  useEffect(() => registerLayer(() => leave()), []);
};
