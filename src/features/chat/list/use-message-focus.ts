import type { VirtualItem } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useRef, useState } from "react";
import { hasMessageMenu } from "#features/chat/message/bubble.tsx";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { findAdjacentMenuKey, focusMessageMenu } from "./keyboard-navigation.ts";

const findList = (scroller: RefObject<HTMLDivElement | null>) => scroller.current?.querySelector("ol");

/**
 * Keyboard focus in the message list. One message is the tab stop (roving tab index); it stays so when other messages
 * arrive. The focus moves to the message of `awaitedKey` once it is rendered, and returns to the message of an action
 * that was completed. `isActionOpen`: a menu or another step of an action is open.
 */
export const useMessageFocus = (
  scroller: RefObject<HTMLDivElement | null>,
  rows: readonly VirtualItem[],
  itemAt: (index: number) => ChatItem | undefined,
  isActionOpen: boolean,
) => {
  const awaitedKey = useRef<string>(undefined);
  useEffect(() => {
    const list = findList(scroller);
    const isRendered = rows.some(({ index }) => itemAt(index)?.key === awaitedKey.current);
    if (awaitedKey.current === undefined || !list || !isRendered) return;
    focusMessageMenu(list, awaitedKey.current);
    awaitedKey.current = undefined;
  });

  // The tab stop: the message that had the focus, else the newest rendered one.
  const [activeKey, setActiveKey] = useState<string>();
  const isTabbable = (index: number) => hasMessageMenu(itemAt(index)?.body ?? { type: "deleted" });
  const tabKey = rows.some(({ key }) => key === activeKey)
    ? activeKey
    : rows.filter(({ index }) => isTabbable(index)).at(-1)?.key;
  // If the focused message is scrolled out of the list, the focus moves to the list instead of the document body.
  const hasLostActive = activeKey !== undefined && tabKey !== activeKey;
  useEffect(() => {
    if (hasLostActive && document.activeElement === document.body) findList(scroller)?.focus({ preventScroll: true });
  }, [hasLostActive, scroller]);

  // After a menu action the focus returns to the message, unless the user is typing.
  const focusTarget = useRef<{ key: string | undefined }>(undefined);
  useEffect(() => {
    const list = findList(scroller);
    if (isActionOpen || !focusTarget.current || !list) return;
    if (!(document.activeElement instanceof HTMLTextAreaElement)) focusMessageMenu(list, focusTarget.current.key);
    focusTarget.current = undefined;
  }, [isActionOpen, scroller]);
  const focusAfterAction = (key: string, isDeleted: boolean) => {
    const list = findList(scroller);
    focusTarget.current = { key: isDeleted && list ? findAdjacentMenuKey(list, key) : key };
  };

  return { tabKey, setActiveKey, awaitedKey, focusAfterAction };
};
