import { useLocation } from "react-router";
import { EmptyState } from "../components/empty-state";
import { Screen } from "../components/screen";
import { useT } from "../i18n/setup";

/** Screens that a later release brings: their place, their name, and the truth about them. */
const screens = [{ id: "tala", prefix: "/app/tala", icon: "i-ph-eye" }] as const;

export default function LaterScreen() {
  const t = useT();
  const { pathname } = useLocation();
  const screen = screens.find(({ prefix }) => pathname.startsWith(prefix)) ?? screens[0];
  return (
    <Screen
      title={t(`later.${screen.id}.title`)}
      subtitle={t(`later.${screen.id}.subtitle`)}
      description={t(`later.${screen.id}.body`)}
    >
      <div className="my-auto">
        <EmptyState icon={screen.icon} title={t("later.notYet")} body={t(`later.${screen.id}.body`)} />
      </div>
    </Screen>
  );
}
