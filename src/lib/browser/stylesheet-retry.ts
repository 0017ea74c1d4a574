const retryMinMs = 500;
const retryMaxMs = 30_000;

const tryAgain = (link: HTMLLinkElement): void => {
  const failures = Number(link.dataset["failures"] ?? 0) + 1;
  const next = link.cloneNode() as HTMLLinkElement;
  next.dataset["failures"] = String(failures);
  setTimeout(() => link.replaceWith(next), Math.min(retryMinMs * 2 ** failures, retryMaxMs));
};

/**
 * Requests stylesheets of lazy code again that could not be fetched. The code itself is requested again by whoever
 * needs it, but Vite requests its styles only once.
 */
export const retryStylesheets = (): void =>
  addEventListener(
    "error",
    ({ target }) => {
      if (target instanceof HTMLLinkElement && target.rel === "stylesheet") tryAgain(target);
    },
    true,
  );
