/** As a `ref`: what appears where something with the focus went takes the focus over. */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus();
