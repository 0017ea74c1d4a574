import { useAppearance } from "../lib/appearance";
import { late } from "./late";
import type { RowsProps } from "./virtual-rows";

/** From this many rows on, those out of sight do not exist. */
const plainRowsMax = 50;
const VirtualRows = late(() => import("./virtual-rows"));

function PlainRows({ keys, label, children }: RowsProps) {
  return (
    <ul aria-label={label} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      {keys.map((key, index) => (
        <li key={key}>{children(index)}</li>
      ))}
    </ul>
  );
}

/** A list of rows of one height that scrolls by itself, however long it is. */
export function RowList(props: RowsProps) {
  const { text } = useAppearance();
  if (props.keys.length <= plainRowsMax) return <PlainRows {...props} />;
  return (
    // Rows of another text size have another height.
    <VirtualRows key={text} {...props} fallback={<PlainRows {...props} keys={props.keys.slice(0, plainRowsMax)} />} />
  );
}
