import { OwnHandle } from "#contract/names/handles.ts";
import { OwnLink } from "#contract/names/personal-link.ts";
import { requestApi } from "#lib/http/api.ts";
import { parseResponse } from "#lib/http/parse-response.ts";

// Requests of the page of the own handle and personal link. Each throws `ApiRequestError`.

export const parseOwnHandle = (body: unknown): OwnHandle => parseResponse(OwnHandle, body);
export const parseOwnLink = (body: unknown): OwnLink => parseResponse(OwnLink, body);

export const saveHandle = async (handle: string): Promise<OwnHandle> =>
  parseOwnHandle(await requestApi("PUT", "/api/handle", { handle }));

export const requestHandleRemoval = async (): Promise<OwnHandle> =>
  parseOwnHandle(await requestApi("DELETE", "/api/handle"));

/** Creates the personal link, or renews it: the former one leads nowhere from then on. */
export const renewLink = async (): Promise<OwnLink> => parseOwnLink(await requestApi("POST", "/api/link"));

export const removeLink = async (): Promise<OwnLink> => parseOwnLink(await requestApi("DELETE", "/api/link"));
