/** Ref that focuses an element on mount, when it replaces an element that had the focus. */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus();
