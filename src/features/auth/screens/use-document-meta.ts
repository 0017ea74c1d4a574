import { useEffect } from "react";

/** Sets the document's title and meta description, also after an in-place change of language. */
export const useDocumentMeta = (title: string, description: string): void => {
  useEffect(() => {
    document.title = `${title} · Lisolo`;
    document.querySelector('meta[name="description"]')?.setAttribute("content", description);
  }, [title, description]);
};
