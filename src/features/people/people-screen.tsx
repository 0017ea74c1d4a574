import { useId, useRef } from "react";
import { flushSync } from "react-dom";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { SearchField } from "#components/controls/search-field.tsx";
import { keepFocusInRows } from "#components/focus/row-focus.ts";
import { Screen } from "#components/layout/screen.tsx";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { PeopleSearchResults } from "./people-search-results.tsx";
import { ContactRequestLists } from "./request-lists.tsx";
import { useContactRequestActions } from "./use-contact-request-actions.ts";
import { isHandleQuery, usePeopleSearch } from "./use-people-search.ts";

/** Senga: people search by phone number or handle, and contact requests (SPEC.md §2 Senga). */
export default function PeopleScreen() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const hintId = useId();
  const { query, search, isOffline, change, submit } = usePeopleSearch();
  const actions = useContactRequestActions();
  const isRefused = search.status === "refused";
  const area = useRef<HTMLDivElement>(null);
  const typeHandle = () => {
    // Before the focus, so that the keyboard opens with letters.
    flushSync(() => change("@"));
    area.current?.querySelector("input")?.focus();
  };
  return (
    <Screen title={t("senga.title")} subtitle={t("senga.subtitle")} description={t("senga.description")}>
      <div ref={area} className="p-4">
        <SearchField
          label={t("senga.searchLabel")}
          placeholder={t("senga.searchPlaceholder")}
          inputMode={isHandleQuery(query) ? "search" : "tel"}
          maxLength={searchQueryMaxLength}
          value={query}
          invalid={isRefused}
          describedBy={hintId}
          onChange={change}
          onSubmit={submit}
        />
        <p
          id={hintId}
          role={isRefused ? "alert" : undefined}
          className={`px-4 pt-2 text-sm ${isRefused ? "text-danger" : "text-muted"}`}
        >
          {isRefused ? t(`errors.${search.code}`) : t(isHandleQuery(query) ? "senga.handleHint" : "senga.searchHint")}
        </p>
        {query === "" && (
          <div className="mt-1 flex flex-wrap">
            <Button variant="quiet" onClick={typeHandle}>
              {t("senga.byHandle")}
            </Button>
            <Button variant="quiet" onClick={() => navigate("/app/senga/scan")}>
              <span className="flex items-center gap-2">
                <span className="i-ph-scan text-xl" aria-hidden="true" />
                {t("senga.scan")}
              </span>
            </Button>
            <Button variant="quiet" onClick={() => navigate("/app/senga/invite")}>
              <span className="flex items-center gap-2">
                <span className="i-ph-share-network text-xl" aria-hidden="true" />
                {t("senga.invite")}
              </span>
            </Button>
          </div>
        )}
      </div>
      <div aria-live="polite" aria-busy={search.status === "searching"}>
        {search.status === "searching" && (
          <p className="flex min-h-24 items-center justify-center gap-2 text-muted">
            <span className="i-ph-circle-notch animate-spin text-2xl text-accent" aria-hidden="true" />
            {t("senga.searching")}
          </p>
        )}
        {search.status === "failed" && (
          <div className="flex flex-col items-center gap-3 px-6 pb-6 text-center">
            <p className="text-danger">{isOffline ? t("senga.offline") : toErrorText(search.error, t)}</p>
            <Button variant="secondary" onClick={submit}>
              {t("common.retry")}
            </Button>
          </div>
        )}
        {search.status === "found" && (
          <section
            ref={keepFocusInRows}
            aria-label={t("senga.results")}
            className="mx-4 mb-4 overflow-hidden rounded-card border border-line bg-surface"
          >
            <PeopleSearchResults people={search.people} digits={search.digits} actions={actions} />
          </section>
        )}
      </div>
      <div ref={keepFocusInRows}>
        <ContactRequestLists actions={actions} />
      </div>
    </Screen>
  );
}
