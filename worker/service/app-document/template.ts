import type { AppTemplate } from "#contract/wire/document/document-headers.ts";

let template: Promise<AppTemplate | undefined> | undefined;

const readTemplate = async (env: Env, request: Request): Promise<AppTemplate | undefined> => {
  const response = await env.ASSETS.fetch(new Request(new URL("/entry/app-template.json", request.url)));
  // Development: nothing is prerendered, and a missing file is answered with the app's page.
  const isPrerendered = response.headers.get("content-type")?.includes("json") ?? false;
  return isPrerendered ? response.json<AppTemplate>() : undefined;
};

/** Template of this version, read once per isolate. */
export const getTemplate = async (env: Env, request: Request): Promise<AppTemplate | undefined> => {
  template ??= readTemplate(env, request);
  const found = await template.catch(() => undefined);
  if (!found) template = undefined;
  return found;
};
