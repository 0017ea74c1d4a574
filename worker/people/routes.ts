import * as v from "valibot";
import { Uuid } from "../../contract/ids";
import { avatarSizes, phoneSearchMinLength, searchQueryMaxLength } from "../../contract/limits";
import { FoundPerson, PhoneSearch, Profile, ProfileChange } from "../../contract/people";
import { toPhoneQuery } from "../../contract/phone";
import { openDb } from "../db/client";
import { findEncounter, findOwnProfile, listStandings } from "../db/relations";
import { can } from "../lib/access";
import { type AppContext, afterAnswer, createRoutes } from "../lib/app";
import { authenticate } from "../lib/authenticate";
import { type AvatarSize, avatarKeyPattern, deleteAvatar, findAvatar, storeAvatar } from "../lib/avatars";
import { operation } from "../lib/operation";
import { limitCaller } from "../lib/rate-limit";
import { refuse } from "../lib/refusal";
import { flushAbout } from "../lib/relation-delivery";
import { validate } from "../lib/validate";
import { replaceAvatar, searchByPhone, updateName } from "./queries";

/** Everybody who has this profile hears of its change, after the answer. */
const tellAcquaintances = (c: AppContext, me: Uuid): void =>
  afterAnswer(c.executionCtx, "tell of a changed profile", flushAbout(c.env, me));

const AvatarSizeName = v.pipe(
  v.picklist(avatarSizes.map(String)),
  v.transform((size) => Number(size) as AvatarSize),
);
const AvatarKey = v.pipe(v.string(), v.regex(avatarKeyPattern));

const Query = v.object({
  phone: v.pipe(
    PhoneSearch.entries.phone,
    v.check(
      (query) => query.length > searchQueryMaxLength || toPhoneQuery(query).length >= phoneSearchMinLength,
      "query_too_short",
    ),
  ),
});

const imageTypes = "image/*";

export const peopleRoutes = createRoutes()
  .post(
    "/people/search",
    operation({
      tag: "people",
      summary: "People whose phone number contains these digits: at most ten, never oneself",
      ok: { status: 200, body: v.array(FoundPerson) },
      refusals: ["invalid_input", "query_too_short", "forbidden_origin"],
    }),
    authenticate,
    // Not in the URL, which logs and proxies keep.
    validate("json", Query),
    limitCaller("search_by_minute", "search_by_day"),
    async (c) => {
      const db = openDb(c.env);
      const me = c.var.caller.user;
      const people = await searchByPhone(db, me, toPhoneQuery(c.req.valid("json").phone), phoneSearchMinLength);
      const standings = await listStandings(
        db,
        me,
        people.map(({ id }) => id),
      );
      const found = people.map(({ id, username, phone, avatar_url }): FoundPerson => {
        const state = standings.get(id)?.standing.state ?? "none";
        return { id, username, phone, avatar_url, state };
      });
      return c.json(found, 200);
    },
  )
  .get(
    "/users/:id",
    operation({
      tag: "people",
      summary: "The profile of oneself, a contact, somebody with whom a request was exchanged or whom one blocks",
      ok: { status: 200, body: Profile },
      refusals: ["invalid_input", "user_not_found"],
    }),
    authenticate,
    validate("param", v.object({ id: Uuid })),
    async (c) => {
      const me = c.var.caller.user;
      const found = await findEncounter(openDb(c.env), me, c.req.valid("param").id);
      if (!found) return refuse(c, "user_not_found");
      const { profile, standing, haveAsked } = found;
      const isKnown = can.readProfile(me, { id: profile.id, ...standing, haveAsked });
      return isKnown ? c.json(profile, 200) : refuse(c, "user_not_found");
    },
  )
  .patch(
    "/profile",
    operation({
      tag: "people",
      summary: "Change one's own name",
      ok: { status: 200, body: Profile },
      refusals: ["invalid_input", "invalid_name", "forbidden_origin"],
    }),
    authenticate,
    validate("json", ProfileChange),
    limitCaller("profile_change_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const { username } = c.req.valid("json");
      const db = openDb(c.env);
      const profile = username === undefined ? await findOwnProfile(db, me) : await updateName(db, me, username);
      if (!profile) return refuse(c, "user_not_found");
      if (username !== undefined) tellAcquaintances(c, me);
      return c.json(profile, 200);
    },
  )
  .put(
    "/profile/avatar",
    operation({
      tag: "people",
      summary: "Replace one's own picture by a JPEG, PNG, WebP or GIF of at most 5 MB and 50 megapixels",
      takes: imageTypes,
      ok: { status: 200, body: Profile },
      refusals: ["file_too_large", "not_an_image", "image_too_many_pixels", "forbidden_origin"],
    }),
    authenticate,
    limitCaller("avatar_by_user"),
    async (c) => {
      const me = c.var.caller.user;
      const stored = await storeAvatar(c.env, me, new Uint8Array(await c.req.arrayBuffer()));
      if ("refused" in stored) return refuse(c, stored.refused);
      const replaced = await replaceAvatar(openDb(c.env), me, stored.key);
      if (!replaced) return refuse(c, "user_not_found");
      const { profile, released } = replaced;
      if (released !== undefined) {
        afterAnswer(c.executionCtx, "delete the old avatar", deleteAvatar(c.env, released));
      }
      tellAcquaintances(c, me);
      return c.json(profile, 200);
    },
  )
  .get(
    "/avatars/:key",
    operation({
      tag: "people",
      summary: "A picture, square, of 50 or 512 pixels; for signed-in people who were given its key",
      ok: { status: 200, body: "image/webp" },
      refusals: ["invalid_input", "not_found"],
    }),
    authenticate,
    validate("param", v.object({ key: AvatarKey }), "not_found"),
    validate("query", v.object({ size: v.optional(AvatarSizeName, "512") })),
    async (c) => {
      const { key } = c.req.valid("param");
      const avatar = await findAvatar(c.env, key, c.req.valid("query").size, c.req.raw.headers);
      if (!avatar) return refuse(c, "not_found");
      // The key names these bytes for ever; a shared cache never keeps them.
      c.header("cache-control", "private, max-age=31536000, immutable");
      c.header("etag", avatar.httpEtag);
      c.header("content-type", "image/webp");
      return "body" in avatar ? c.body(avatar.body, 200) : c.body(null, 304);
    },
  );
