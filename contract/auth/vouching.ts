import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { LinkSearch } from "#contract/names/personal-link.ts";
import { NumberProof } from "./number.ts";

/** Vouching: two contacts confirm whose a number is, by its QR code (docs/decisions/vouching.md). */

/** Token of a code. It is as long as that of a personal link. */
export const VouchingToken = LinkSearch;

/** Person and number that a contact is asked to confirm. */
export const VouchingRequest = v.object({ user_id: Uuid, phone: v.string(), has_confirmed: v.boolean() });
export type VouchingRequest = v.InferOutput<typeof VouchingRequest>;
/** The code for the person whose it is, to show it on another device too, and the number that it is for. */
export const OwnVouching = v.object({ own: NumberProof, phone: v.string() });
export type OwnVouching = v.InferOutput<typeof OwnVouching>;
export const OpenedVouching = v.union([VouchingRequest, OwnVouching]);
export type OpenedVouching = v.InferOutput<typeof OpenedVouching>;

const vouchingPath = "/app/v/";
/** Path in a QR code, a page of the app: nobody but a signed-in contact can do anything with it. */
export const toVouchingPath = (token: string): string => vouchingPath + token;

/** Path of the text of a QR code; undefined for anything but a vouching code of this site. */
export const parseScannedVouching = (text: string, origin: string): string | undefined => {
  const start = origin + vouchingPath;
  const token = text.startsWith(start) ? text.slice(start.length) : "";
  return v.is(VouchingToken, { token }) ? toVouchingPath(token) : undefined;
};
