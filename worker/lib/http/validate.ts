import { vValidator } from "@hono/valibot-validator";
import type { Context, MiddlewareHandler, ValidationTargets } from "hono";
import { resolver, uniqueSymbol } from "hono-openapi";
import * as v from "valibot";
import { type ErrorCode, isErrorCode } from "#contract/errors.ts";
import { refuse } from "./refusal.ts";

/** Accepted media types of request bodies. */
const mediaTypes: Partial<Record<keyof ValidationTargets, RegExp>> = {
  json: /^application\/([a-z-.]+\+)?json\s*(;|$)/i,
  form: /^multipart\/form-data\s*(;|$)/i,
};

/** Error code of the first issue that names one (`v.check(…, "weak_password")`), else the fallback. */
const toCode = (issues: readonly v.BaseIssue<unknown>[], fallback: ErrorCode): ErrorCode =>
  issues.map((issue) => issue.message).find(isErrorCode) ?? fallback;

const describeIssue = (issue: v.BaseIssue<unknown> | undefined): string | undefined => {
  const path = issue && v.getDotPath(issue);
  return path ? `${path.slice(0, 100)}: not acceptable` : undefined;
};

/**
 * Validates a part of a request. A refusal contains the code and at most the name of the field, never the parse result.
 * The same schema describes the part in the OpenAPI document.
 */
export const validate = <T extends v.GenericSchema, Target extends keyof ValidationTargets>(
  target: Target,
  schema: T,
  fallback: ErrorCode = "invalid_input",
) => {
  const checked: v.GenericSchema = target === "json" ? v.pipe(v.unknown(), isNotArray, schema) : schema;
  const check = vValidator(target, checked, (result, c) => {
    const isAccepted = mediaTypes[target]?.test(c.req.header("content-type") ?? "") ?? true;
    if (!isAccepted && hasBody(c)) return refuse(c, "unsupported_media");
    if (result.success) return;
    const msg = describeIssue(result.issues[0]);
    return refuse(c, toCode(result.issues, fallback), msg === undefined ? {} : { msg });
  });
  return Object.assign(check, { [uniqueSymbol]: { target, ...resolver(schema) } }) as unknown as MiddlewareHandler<
    // biome-ignore lint/suspicious/noExplicitAny: the route's own Env, which a validator neither reads nor narrows
    any,
    string,
    { in: { [K in Target]: v.InferInput<T> }; out: { [K in Target]: v.InferOutput<T> } }
  >;
};

/** Request bodies are objects. An empty array would satisfy a schema whose fields are all optional. */
const isNotArray = v.check((value: unknown) => !Array.isArray(value));

const hasBody = (c: Context): boolean => c.req.raw.body !== null && c.req.header("content-length") !== "0";
