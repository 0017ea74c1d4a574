const nearEndPx = 600;

/** Whether a list is scrolled near its end, where further items are loaded. */
export const isNearScrollEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): boolean =>
  scrollHeight - scrollTop - clientHeight < nearEndPx;
