import { createHmac } from "node:crypto";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { pushEndpointMaxLength } from "#contract/limits/push.ts";
import { isPushEndpoint } from "#contract/push.ts";

/** Settings of the push services that this deployment contacts: host names, or `*.` and a suffix, between spaces. */
export type PushServiceEnv = { PUSH_SERVICES?: string };

/**
 * Whether the server may send requests to an endpoint. The device chooses the endpoint, so without this check it could
 * make the server contact any address. Hosts are compared as a whole; `*.` stands for one or more labels.
 */
export const isAllowedEndpoint = ({ PUSH_SERVICES: services = "" }: PushServiceEnv, endpoint: string): boolean => {
  if (endpoint.length > pushEndpointMaxLength || !isPushEndpoint(endpoint)) return false;
  const { hostname } = new URL(endpoint);
  return services
    .toLowerCase()
    .split(/\s+/)
    .some((service) =>
      service.startsWith("*.")
        ? service.length > 2 && hostname.endsWith(service.slice(1)) && hostname.length >= service.length
        : hostname === service,
    );
};

/**
 * Keyed hash of an endpoint, by which the directory knows that two accounts use the same one. Whoever has the endpoint
 * could disturb its device, so the directory does not contain it.
 */
export const hashPushEndpoint = ({ PEPPER }: Pick<Env, "PEPPER">, endpoint: string): string =>
  createHmac("sha256", PEPPER).update(`lisolo push endpoint ${endpoint}`).digest("base64url");

/**
 * Topic of the pushes of a conversation to a person, of its messages or its calls, 32 characters. Different for each
 * person, and nobody can guess it.
 */
export const hashPushTopic = (
  { PEPPER }: Pick<Env, "PEPPER">,
  user: Uuid,
  conversation: ConversationId,
  subject: "messages" | "calls" = "messages",
): string => {
  const topic = `lisolo push topic ${user} ${conversation}${subject === "calls" ? " calls" : ""}`;
  return createHmac("sha256", PEPPER).update(topic).digest("base64url").slice(0, 32);
};
