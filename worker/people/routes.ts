import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { avatarSizes } from "#contract/limits/files.ts";
import { phoneSearchMinLength } from "#contract/limits/phone-numbers.ts";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { DisplayName } from "#contract/names/display-names.ts";
import { FoundPerson, Profile } from "#contract/people.ts";
import { toPhoneQuery } from "#contract/phone/phone-text.ts";
import { updateUsername } from "#worker/auth/queries.ts";
import { openDb } from "#worker/db/client.ts";
import { findRelation } from "#worker/db/relations.ts";
import { findOwnProfile } from "#worker/db/visible-profiles.ts";
import { pushUpdatesAbout } from "#worker/lib/contact-updates.ts";
import { type AppContext, createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { authenticate } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitCaller } from "#worker/lib/limits/rate-limit.ts";
import { listVerifiablePrefixes } from "#worker/lib/number-adapters.ts";
import { can } from "#worker/lib/permissions.ts";
import {
  type AvatarSize,
  avatarKeyPattern,
  deleteAvatar,
  findAvatar,
  storeAvatar,
} from "#worker/lib/storage/avatars.ts";
import { replaceAvatar, searchByPhone } from "./queries.ts";
import { countSearch } from "./search-limit.ts";

/** Pushes a changed profile to everybody who has it, after the response. */
const notifyContacts = (c: AppContext, me: Uuid): void =>
  runAfterResponse(c.executionCtx, "push a changed profile", pushUpdatesAbout(c.env, me));

const AvatarSizeName = v.pipe(
  v.picklist(avatarSizes.map(String)),
  v.transform((size) => Number(size) as AvatarSize),
);
const AvatarKey = v.pipe(v.string(), v.regex(avatarKeyPattern));

const PhoneSearch = v.object({
  phone: v.pipe(
    v.string(),
    v.maxLength(searchQueryMaxLength),
    v.check(
      (query) => query.length > searchQueryMaxLength || toPhoneQuery(query).length >= phoneSearchMinLength,
      "query_too_short",
    ),
  ),
});

const ProfileChange = v.strictObject({ username: v.optional(DisplayName) });

const anyImageType = "image/*";

export const peopleRoutes = createRoutes()
  .post(
    "/people/search",
    describeOperation({
      tag: "people",
      id: "search_users_by_phone",
      summary:
        "People whose phone number contains these digits: at most ten, never oneself. Full numbers are returned for contacts and for exact searches only",
      ok: { status: 200, body: v.array(FoundPerson) },
      refusals: ["invalid_input", "query_too_short", "searches_used_up", "forbidden_origin"],
    }),
    authenticate,
    // Not in the URL, which logs and proxies store.
    validate("json", PhoneSearch),
    limitCaller("search_by_user"),
    async (c) => {
      const db = openDb(c.env);
      const me = c.var.caller.user;
      const digits = toPhoneQuery(c.req.valid("json").phone);
      const allowed = await countSearch(c.env, db, me, digits);
      if (!allowed.ok) return refuse(c, "searches_used_up", allowed);
      return c.json(await searchByPhone(db, me, digits, listVerifiablePrefixes(c.env)), 200);
    },
  )
  .get(
    "/users/:id",
    describeOperation({
      tag: "people",
      summary: "Profile of oneself, a contact, a person with a pending request, or a blocked person",
      ok: { status: 200, body: Profile },
      refusals: ["invalid_input", "user_not_found"],
    }),
    authenticate,
    validate("param", v.object({ id: Uuid })),
    async (c) => {
      const me = c.var.caller.user;
      const { id } = c.req.valid("param");
      const db = openDb(c.env);
      const relation = await findRelation(db, me, id);
      const profile = id === me ? await findOwnProfile(db, me) : relation?.profile;
      if (!profile || !relation || !can.readProfile(me, { id, ...relation })) return refuse(c, "user_not_found");
      return c.json(profile, 200);
    },
  )
  .patch(
    "/profile",
    describeOperation({
      tag: "people",
      summary: "Change one's own name",
      ok: { status: 200, body: Profile },
      refusals: ["invalid_input", "invalid_name", "mixed_name", "reserved_name", "forbidden_origin"],
    }),
    authenticate,
    validate("json", ProfileChange),
    async (c) => {
      const me = c.var.caller.user;
      const { username } = c.req.valid("json");
      const db = openDb(c.env);
      if (username !== undefined) {
        const changed = await updateUsername(db, me, username);
        if (!changed.ok) return refuse(c, "rate_limited", changed);
        notifyContacts(c, me);
      }
      const profile = await findOwnProfile(db, me);
      return profile ? c.json(profile, 200) : refuse(c, "user_not_found");
    },
  )
  .put(
    "/profile/avatar",
    describeOperation({
      tag: "people",
      summary: "Replace one's own picture by a JPEG, PNG, WebP or GIF of at most 5 MB and 50 megapixels",
      bodyType: anyImageType,
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
      const { profile, unusedAvatar } = replaced;
      if (unusedAvatar !== undefined) {
        runAfterResponse(c.executionCtx, "delete the old avatar", deleteAvatar(c.env, unusedAvatar));
      }
      notifyContacts(c, me);
      return c.json(profile, 200);
    },
  )
  .get(
    "/avatars/:key",
    describeOperation({
      tag: "people",
      summary: "A square picture of 50 or 512 pixels, for signed-in people who know its key",
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
      // The content of a key never changes. Shared caches must not store it.
      c.header("cache-control", "private, max-age=31536000, immutable");
      c.header("etag", avatar.httpEtag);
      c.header("content-type", "image/webp");
      return "body" in avatar ? c.body(avatar.body, 200) : c.body(null, 304);
    },
  );
