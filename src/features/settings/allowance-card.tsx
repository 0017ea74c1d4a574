import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { Allowance } from "#contract/settings/trust-tiers.ts";
import { parseResponse } from "#lib/http/parse-response.ts";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";

const parseAllowance = (body: unknown): Allowance => parseResponse(Allowance, body);

/** Texts with their counts, shown one below the other. */
const useAllowanceLines = (allowance: Allowance): { icon: string; text: string }[] => {
  const { t } = useTranslation();
  const { requests, groups_per_day: groups, group_members_max: members, posts_per_day: posts } = allowance;
  const { per_day: perDay, left } = requests;
  return [
    { icon: "i-ph-user-plus", text: t("settings.privacy.allowance.requests", { left, max: perDay }) },
    {
      icon: "i-ph-users-three",
      text:
        groups === null || members === null
          ? t("settings.privacy.allowance.groupsFree")
          : t("settings.privacy.allowance.groups", { max: groups, members }),
    },
    {
      icon: "i-ph-eye",
      text:
        posts === null
          ? t("settings.privacy.allowance.postsFree")
          : t("settings.privacy.allowance.posts", { max: posts }),
    },
  ];
};

function AllowanceLines({ allowance, heading }: { allowance: Allowance; heading: string }) {
  const { t } = useTranslation();
  const lines = useAllowanceLines(allowance);
  const { tier, can_verify: canVerify } = allowance;
  return (
    <>
      <ul aria-labelledby={heading} className="divide-y divide-line">
        {lines.map(({ icon, text }) => (
          <li key={icon} className="flex gap-3 px-4 py-3 text-sm">
            <span className={`${icon} mt-0.5 shrink-0 text-xl text-muted`} aria-hidden="true" />
            {text}
          </li>
        ))}
      </ul>
      {tier !== "trusted" && (
        <p className="px-4 py-3 text-sm text-muted">
          {t(canVerify ? "settings.privacy.allowance.verify" : "settings.privacy.allowance.grows")}
        </p>
      )}
      {canVerify && (
        <Link
          to="/app/verify-number"
          className="flex min-h-14 items-center gap-3 px-4 -outline-offset-3 hover:bg-raised"
        >
          <span className="flex-1 font-medium">{t("settings.privacy.allowance.verifyLink")}</span>
          <span className="i-ph-caret-right text-muted" aria-hidden="true" />
        </Link>
      )}
    </>
  );
}

/** Number of new people who may still be reached today. Fetched at each visit, because it changes by itself. */
export function AllowanceCard() {
  const { t } = useTranslation();
  const [query, retry] = useRemoteQuery("/api/allowance", true, parseAllowance);
  return (
    <SettingsCard title={t("settings.privacy.allowance.title")} icon="i-ph-handshake">
      {(heading) => {
        if (query.state === "found") return <AllowanceLines allowance={query.body} heading={heading} />;
        if (query.state === "loading")
          return <p className="px-4 py-3 text-sm text-muted">{t("settings.privacy.allowance.loading")}</p>;
        return (
          <button
            type="button"
            onClick={retry}
            className="min-h-14 w-full px-4 text-left text-sm -outline-offset-3 hover:bg-raised"
          >
            {t("settings.privacy.allowance.failed")}
          </button>
        );
      }}
    </SettingsCard>
  );
}
