import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { BrandLogo } from "./brand-logo.tsx";
import { LanguageLinks } from "./language-links.tsx";

/** Layout of the authentication pages: link to the welcome page, language links, title and lead. */
export function AuthPage({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="entry-ground min-h-screen min-h-dvh pt-safe pb-safe">
      <header className="mx-auto flex max-w-120 items-center justify-between px-2 py-3 sm:px-0 sm:pt-8">
        <a
          href="/"
          aria-label={`Lisolo, ${t("common.back")}`}
          className="inline-flex min-h-12 items-center gap-2 rounded-full px-3 font-extrabold hover:bg-raised"
        >
          <BrandLogo className="shrink-0 size-8" />
          <span aria-hidden="true">Lisolo</span>
        </a>
        <LanguageLinks short />
      </header>
      <main className="mx-auto max-w-120 px-5 pt-2 pb-10 sm:mt-4 sm:mb-12 sm:rounded-bubble sm:bg-surface sm:px-10 sm:pt-9 sm:shadow-[var(--shadow)]">
        <h1 className="text-3xl font-extrabold tracking-tight">{title}</h1>
        <p className="mt-1 break-words text-muted">{lead}</p>
        {children}
      </main>
    </div>
  );
}

/** Link below a form to the alternative page, such as sign-in or registration. */
export function AuthFooterLink({ question, href, children }: { question: string; href: string; children: ReactNode }) {
  return (
    <p className="mt-6 text-center text-muted">
      {question}{" "}
      <a
        href={href}
        className="inline-flex min-h-12 items-center font-semibold text-accent underline underline-offset-4"
      >
        {children}
      </a>
    </p>
  );
}
