import { createContext, type ReactNode, useContext, useEffect, useId, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "react-router";
import { setPageTitle } from "#lib/browser/page/page-title.ts";
import { BackLink, type BackMode } from "./back-link.tsx";

/**
 * Content at the end of every header (the profile button). The shell provides it because it knows the signed-in person.
 */
export const HeaderTrailingContext = createContext<ReactNode>(null);

/**
 * Whether this pane is the page (its heading names the document and receives the focus) or is shown next to the page,
 * like the conversation list next to an open chat.
 */
export const IsPageContext = createContext(true);

/**
 * Path of the whole window. A pane next to the page has its own location and reads here which of its entries is open.
 */
export const WindowPathContext = createContext("");

type ScreenProps = {
  /** Document title and, unless `heading` is given, the header text. */
  title: string;
  /** Document description. */
  description: string;
  /** Explanation of the title, in small print below it and in the document title. */
  subtitle?: string;
  /** Header content instead of the title, such as avatar and name of a chat. Wrapped in the h1. */
  heading?: ReactNode;
  /** Target path of the back button. */
  backPath?: string;
  backMode?: BackMode;
  /** Buttons of this screen, before the profile button. */
  actions?: ReactNode;
  /** False if the header has no space for the profile button (a chat). */
  hasProfileButton?: boolean;
  /** False if a part of the screen scrolls instead (a virtual list, a chat). */
  scrolls?: boolean;
  children: ReactNode;
};

const setMetaDescription = (text: string): void => {
  let meta = document.querySelector<HTMLMetaElement>('meta[name="description"]');
  if (!meta) {
    meta = document.createElement("meta");
    meta.name = "description";
    document.head.append(meta);
  }
  meta.content = text;
};

/** Screen with the shared 72 px header. */
export function Screen({ title, subtitle, description, heading, backPath, actions, children, ...props }: ScreenProps) {
  const { hasProfileButton = true, scrolls = true, backMode = "up" } = props;
  const { t } = useTranslation();
  const headingId = useId();
  const headingRef = useRef<HTMLHeadingElement>(null);
  const headerEnd = useContext(HeaderTrailingContext);
  const isPage = useContext(IsPageContext);
  const { key } = useLocation();

  useEffect(() => {
    if (!isPage) return;
    setPageTitle(subtitle ? `${title} – ${subtitle}` : title);
    setMetaDescription(description);
  }, [isPage, title, subtitle, description]);

  // After a navigation a screen reader continues at the new heading, unless the screen focused a better element, such
  // as the composer. The first page load keeps the browser's default.
  useEffect(() => {
    const heading = headingRef.current;
    if (!isPage || key === "default" || heading?.closest("[data-screen]")?.contains(document.activeElement)) return;
    heading?.focus({ preventScroll: true });
  }, [isPage, key]);

  return (
    // One element type for both panes: another type would remount the screen and reset its scroll position.
    <section
      role={isPage ? "main" : undefined}
      data-screen
      aria-labelledby={headingId}
      className="flex min-h-0 min-w-0 flex-1 flex-col bg-bg"
    >
      <header className="screen-header z-10 flex h-[72px] shrink-0 items-center gap-1 border-b border-line bg-surface pr-2 pl-2">
        {backPath !== undefined && <BackLink to={backPath} mode={backMode} label={t("common.back")} />}
        <div className={`min-w-0 flex-1 ${backPath === undefined ? "pl-2" : ""}`}>
          <h1
            id={headingId}
            ref={headingRef}
            tabIndex={-1}
            // Text of any size fits into the header.
            className={`truncate font-bold focus-visible:outline-none ${
              subtitle
                ? "text-[length:min(calc(1rem+4px),30px)] leading-[min(1.75rem,36px)]"
                : "text-[length:calc(1rem+4px)] leading-[min(1.75rem,42px)]"
            }`}
          >
            {heading ?? title}
          </h1>
          {subtitle && (
            <p className="truncate text-[length:min(0.875rem,20px)] leading-[min(1.25rem,26px)] text-muted">
              {subtitle}
            </p>
          )}
        </div>
        {actions}
        {hasProfileButton && headerEnd}
      </header>
      <div className={`flex min-h-0 flex-1 flex-col ${scrolls ? "relative overflow-y-auto overscroll-contain" : ""}`}>
        {children}
      </div>
    </section>
  );
}
