import { describeRoute, resolver } from "hono-openapi";
import type * as v from "valibot";
import { type ErrorCode, errorStatus } from "#contract/errors.ts";

type OperationDescription = {
  tag: "auth" | "people" | "contacts" | "conversations" | "groups" | "calls" | "files" | "tala" | "service";
  summary: string;
  /** Name of the operation in SPEC.md §7, if it has one there; otherwise one is made of method and path. */
  id?: string;
  /** Success response: status with a schema, a media type for bytes, or null for no body. */
  ok: { status: 101 | 200 | 201 | 202 | 204 | 302; body: v.GenericSchema | string | null };
  refusals?: readonly ErrorCode[];
  /** Callable without a session. */
  isPublic?: boolean;
  /** Media type of a request body that is not JSON. */
  bodyType?: string;
};

const commonRefusals: readonly ErrorCode[] = ["rate_limited", "unavailable", "internal"];
const authenticationRefusals: readonly ErrorCode[] = [
  "no_authorization",
  "bad_jwt",
  "session_not_found",
  "insufficient_aal",
];

const descriptions = {
  101: "The socket is open",
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "Done",
  302: "Led on",
} as const;

const bytes = { type: "string", format: "binary" } as const;

const toContent = (body: v.GenericSchema | string | null) => {
  if (body === null) return {};
  if (typeof body === "string") return { content: { [body]: { schema: bytes } } };
  return { content: { "application/json": { schema: resolver(body, { typeMode: "output" }) } } };
};

/** Schema of a refusal with the codes that this route returns for a status. */
const createRefusalSchema = (codes: ErrorCode[]) => ({
  allOf: [
    { $ref: "#/components/schemas/ApiError" },
    { type: "object" as const, properties: { error_code: { type: "string" as const, enum: codes } } },
  ],
});

/** Describes a route in the OpenAPI document: access, responses and error codes. */
export const describeOperation = ({
  tag,
  summary,
  id,
  ok,
  refusals = [],
  isPublic = false,
  bodyType,
}: OperationDescription) => {
  const codes = new Set([...refusals, ...(isPublic ? [] : authenticationRefusals), ...commonRefusals]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(errorStatus[code], [...(byStatus.get(errorStatus[code]) ?? []), code]);
  return describeRoute({
    tags: [tag],
    summary,
    ...(id === undefined ? {} : { operationId: id }),
    ...(isPublic ? { security: [] } : {}),
    ...(bodyType === undefined ? {} : { requestBody: { required: true, content: { [bodyType]: { schema: bytes } } } }),
    responses: {
      [ok.status]: { description: descriptions[ok.status], ...toContent(ok.body) },
      ...Object.fromEntries(
        [...byStatus].map(([status, errorCodes]) => [
          status,
          {
            description: errorCodes.join(", "),
            content: { "application/json": { schema: createRefusalSchema(errorCodes) } },
          },
        ]),
      ),
    },
  });
};
