import { useTranslation } from "react-i18next";
import type { MediaView } from "#calls/media/media-session.ts";
import type { TextKey } from "#i18n/setup.ts";

const words: Record<1 | 2 | 3, TextKey> = {
  1: "calls.quality.bad",
  2: "calls.quality.fair",
  3: "calls.quality.good",
};
const heights = ["h-2", "h-3", "h-4"];

/** Three bars for the connection quality; nothing while it is unknown. */
export function QualityBars({ quality }: { quality: MediaView["quality"] }) {
  const { t } = useTranslation();
  if (quality === 0) return null;
  const label = t(words[quality]);
  return (
    <span role="img" aria-label={label} title={label} className="flex items-center px-3 py-1">
      <span className="flex h-4 items-end gap-[3px]">
        {heights.map((height, index) => (
          <span
            key={height}
            className={`w-1 rounded-full bg-current ${height} ${index < quality ? "" : "opacity-30"}`}
          />
        ))}
      </span>
    </span>
  );
}
