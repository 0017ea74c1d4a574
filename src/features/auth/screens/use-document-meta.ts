import { useEffect } from "react";

/** The document's title and description, also after the language changed in place. */
export const useDocumentMeta = (title: string, description: string): void => {
  useEffect(() => {
    document.title = `${title} · Lisolo`;
    document.querySelector('meta[name="description"]')?.setAttribute("content", description);
  }, [title, description]);
};
