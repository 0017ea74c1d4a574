import { useEffect, useState } from "react";

/** Object URL of a blob, revoked on change and unmount; undefined without a blob. */
export const useObjectUrl = (blob: Blob | undefined): string | undefined => {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (!blob) return;
    const url = URL.createObjectURL(blob);
    setUrl(url);
    return () => {
      setUrl(undefined);
      URL.revokeObjectURL(url);
    };
  }, [blob]);
  return url;
};
