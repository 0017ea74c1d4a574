/** What the person had opened on the help page, for when they come back from a page that an answer led to. */
export const helpVisit = {
  /** Key of the history entry. */
  entry: "",
  query: "",
  /** Topics and questions that are open, by id. */
  open: new Set<string>(),
  /** Question whose link was followed. */
  left: undefined as string | undefined,
};

/** Begins a new visit, unless the history leads back to the entry of the former one. */
export const enterHelp = (entry: string): void => {
  if (helpVisit.entry === entry) return;
  helpVisit.entry = entry;
  helpVisit.query = "";
  helpVisit.open.clear();
  helpVisit.left = undefined;
};
