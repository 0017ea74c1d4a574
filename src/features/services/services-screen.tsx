import { useTranslation } from "react-i18next";
import { ButtonLink } from "#components/controls/button.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { Screen } from "#components/layout/screen.tsx";
import { findPartnerUrl } from "./partner.ts";

/** Link to the partner's site (SPEC.md §2 Services), which receives no information about the user. */
export default function ServicesScreen() {
  const { t } = useTranslation();
  const partner = findPartnerUrl();
  return (
    <Screen title={t("services.title")} subtitle={t("services.subtitle")} description={t("services.description")}>
      <div className="my-auto">
        {partner ? (
          <EmptyState
            icon="i-ph-handshake"
            title={t("services.lead")}
            body={t("services.body")}
            action={
              <>
                <ButtonLink
                  href={partner.href}
                  target="_blank"
                  rel="noopener noreferrer"
                  aria-describedby="partner"
                  className="w-full"
                >
                  {t("services.open")}
                  <span className="i-ph-arrow-square-out text-xl" aria-hidden="true" />
                </ButtonLink>
                <p id="partner" className="mt-2 text-sm break-words text-muted">
                  {t("services.newTab", { site: partner.host })}
                </p>
              </>
            }
          />
        ) : (
          <EmptyState icon="i-ph-squares-four" title={t("services.noneTitle")} body={t("services.none")} />
        )}
      </div>
    </Screen>
  );
}
