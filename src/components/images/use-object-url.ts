import { useEffect, useState } from "react";

/** An address under which these bytes can be shown, while they are; undefined for none. */
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
