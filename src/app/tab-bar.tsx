import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { CountBadge } from "#components/controls/count-badge.tsx";
import { toUnreadTotal } from "#contract/settings/conversation-flags.ts";
import { useConversations } from "#sync/hooks/use-conversations.ts";
import { useRequests } from "#sync/hooks/use-people.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { appTabs, findActiveTab, type TabId } from "./routes.ts";

/** Badge counts of the tabs: unread messages and received requests and invitations. */
const useTabBadges = (): Partial<Record<TabId, { count: number; label: string }>> => {
  const { t } = useTranslation();
  const unread = toUnreadTotal(useConversations() ?? []);
  const requests = useRequests();
  const received = requests ? requests.received.length + requests.invitations : 0;
  return {
    masolo: { count: unread, label: t("shell.unread", { count: unread }) },
    senga: { count: received, label: t("shell.received", { count: received }) },
  };
};

/** Bottom tab bar of SPEC.md §2. */
export function TabBar({ pathname }: { pathname: string }) {
  const { t } = useTranslation();
  const waiting = useTabBadges();
  const active = findActiveTab(pathname);
  const { tala: hasTala } = useSettings();
  const shown = appTabs.filter(({ id }) => id !== "tala" || hasTala);
  return (
    <nav
      aria-label={t("shell.navigation")}
      data-page-end
      className="tab-bar z-10 shrink-0 border-t border-line bg-surface pb-safe"
    >
      <ul className="flex h-16">
        {shown.map((tab) => {
          const isActive = tab.id === active;
          const badge = waiting[tab.id];
          return (
            <li key={tab.id} className="min-w-0 flex-1">
              <Link
                to={tab.path}
                aria-current={isActive ? "page" : undefined}
                className={`flex h-full flex-col items-center justify-center gap-0.5 -outline-offset-3 ${isActive ? "text-accent" : "text-muted hover:text-text"}`}
              >
                <span
                  className={`relative grid h-8 w-14 max-w-full place-items-center rounded-full ${isActive ? "bg-accent-soft" : ""}`}
                >
                  <span className={`text-[24px] ${isActive ? tab.activeIcon : tab.icon}`} aria-hidden="true" />
                  {badge && badge.count > 0 && (
                    <CountBadge count={badge.count} label={badge.label} className="absolute -top-1 left-1/2 ml-1" />
                  )}
                </span>
                <span
                  className={`tab-label max-w-full truncate leading-normal tracking-tight ${isActive ? "font-bold" : "font-medium"}`}
                >
                  {t(`shell.tabs.${tab.id}`)}
                </span>
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
