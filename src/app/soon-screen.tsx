import { useLocation } from "react-router";
import { EmptyState } from "../components/empty-state";
import { Screen } from "../components/screen";
import { useT } from "../i18n/setup";

/** SPEC.md §2: pages that say their settings will be available soon. */
const screens = [
  { id: "notifications", path: "/app/notifications", icon: "i-ph-bell" },
  { id: "privacy", path: "/app/privacy", icon: "i-ph-lock-simple" },
] as const;

export default function SoonScreen() {
  const t = useT();
  const { pathname } = useLocation();
  const screen = screens.find(({ path }) => pathname.startsWith(path)) ?? screens[0];
  return (
    <Screen
      title={t(`later.${screen.id}.title`)}
      description={t(`later.${screen.id}.body`)}
      back="/app/profile"
      backMode="previous"
    >
      <div className="my-auto">
        <EmptyState icon={screen.icon} title={t(`later.${screen.id}.title`)} body={t(`later.${screen.id}.body`)} />
      </div>
    </Screen>
  );
}
