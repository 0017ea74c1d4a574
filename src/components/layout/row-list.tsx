import { type UIEventHandler, useRef } from "react";
import { useAppearance } from "#lib/browser/appearance.ts";
import { lazyComponent } from "./lazy-component.tsx";
import type { RowListProps } from "./virtual-rows.tsx";

/** From this many rows on, those out of sight do not exist. */
const plainRowsMax = 50;
const VirtualRows = lazyComponent(() => import("./virtual-rows.tsx"));

function PlainRows({ keys, label, onScroll, children }: RowListProps & { onScroll?: UIEventHandler }) {
  return (
    <ul aria-label={label} onScroll={onScroll} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      {keys.map((key, index) => (
        <li key={key}>{children(index)}</li>
      ))}
    </ul>
  );
}

/** A list of rows of one height that scrolls by itself, however long it is. */
export function RowList(props: RowListProps) {
  const { text } = useAppearance();
  /** How far down one got before the code of the long list came. */
  const scrolledPx = useRef(0);
  if (props.keys.length <= plainRowsMax) return <PlainRows {...props} />;
  return (
    // Rows of another text size have another height.
    <VirtualRows
      key={text}
      {...props}
      getInitialOffsetPx={() => scrolledPx.current}
      fallback={
        <PlainRows
          {...props}
          keys={props.keys.slice(0, plainRowsMax)}
          onScroll={({ currentTarget }) => {
            scrolledPx.current = currentTarget.scrollTop;
          }}
        />
      }
    />
  );
}
