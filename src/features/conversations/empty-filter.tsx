import { useTranslation } from "react-i18next";
import { EmptyState } from "#components/layout/empty-state.tsx";
import type { ShownFilter } from "./list-filters.tsx";

/** Empty state of a filter of the conversation list. */
export default function EmptyFilter({ filter }: { filter: ShownFilter }) {
  const { t } = useTranslation();
  return (
    <div role="status" className="overflow-y-auto">
      <EmptyState icon="i-ph-binoculars" title={t(`masolo.nothing.${filter}`)} />
    </div>
  );
}
