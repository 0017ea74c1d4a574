import { type UIEventHandler, useRef } from "react";
import { useAppearance } from "#lib/browser/appearance.ts";
import { lazyComponent } from "./lazy-component.tsx";
import type { RowListProps } from "./virtual-rows.tsx";

/** Longer lists render only the rows near the viewport. */
const plainRowsMax = 50;
const VirtualRows = lazyComponent(() => import("./virtual-rows.tsx"));

function PlainRows({ keys, label, lead, onScroll, children }: RowListProps & { onScroll?: UIEventHandler }) {
  return (
    <div onScroll={onScroll} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      {lead}
      <ul aria-label={label}>
        {keys.map((key, index) => (
          <li key={key}>{children(index)}</li>
        ))}
      </ul>
    </div>
  );
}

/** Scrolling list of rows of equal height, of any length. */
export function RowList(props: RowListProps) {
  const { text } = useAppearance();
  /** Scroll position reached before the code of the virtual list was loaded. */
  const scrolledPx = useRef(0);
  if (props.keys.length <= plainRowsMax) return <PlainRows {...props} />;
  return (
    // The row height depends on the text size.
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
