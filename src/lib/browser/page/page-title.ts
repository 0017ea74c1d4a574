let title = "";
let unreadCount = 0;

const showTitle = (): void => {
  if (title !== "") document.title = unreadCount > 0 ? `(${unreadCount}) ${title}` : title;
};

/** Sets the document title of the current screen. */
export const setPageTitle = (screenTitle: string): void => {
  title = `${screenTitle} · Lisolo`;
  showTitle();
};

/** Shows the number of unread messages before the document title, in a browser's tab bar the only place for it. */
export const setTitleCount = (count: number): void => {
  unreadCount = count;
  showTitle();
};
