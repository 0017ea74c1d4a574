import { randomBytes } from "node:crypto";
import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { Ceremony, NewPasskey, Passkey, PasskeyProof, PasskeyRename, PasskeyStep } from "#contract/auth/factors.ts";
import { Uuid } from "#contract/ids.ts";
import { passkeysMax } from "#contract/limits/authentication.ts";
import { findAccount } from "#worker/auth/queries.ts";
import { requireReauthentication, revokeOtherReauthentications } from "#worker/auth/second-factor/assurance.ts";
import { toCeremonyPreconditions, toPasskeyPreconditions } from "#worker/auth/second-factor/preconditions.ts";
import { sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { readDeviceName } from "#worker/auth/sessions/device-name.ts";
import { acceptFactor, startSession } from "#worker/auth/sessions/open-session.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes } from "#worker/lib/http/app.ts";
import { authenticate, authenticateAllowingPending } from "#worker/lib/http/authenticate.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { requirePublicOrigin } from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { limitClient } from "#worker/lib/limits/client-limits.ts";
import { limitSession } from "#worker/lib/limits/rate-limit.ts";
import { type CeremonyScope, consumeCeremony, findCeremony, insertCeremony } from "./ceremonies.ts";
import {
  deletePasskey,
  getOrCreateUserHandle,
  insertPasskey,
  listPasskeys,
  toPasskey,
  updatePasskeyName,
  updatePasskeyStep,
} from "./passkeys.ts";
import {
  createAuthenticationOptions,
  createRegistrationOptions,
  verifyAuthentication,
  verifyRegistration,
} from "./verification.ts";

const challengeBytes = 32;

/** Starts a ceremony with a fresh random challenge that can be answered once. */
const startCeremony = async (
  c: AppContext,
  scope: CeremonyScope,
  toOptions: (challenge: Uint8Array<ArrayBuffer>) => Promise<object>,
): Promise<Ceremony> => {
  const challenge = randomBytes(challengeBytes);
  const ceremony = await insertCeremony(openDb(c.env), scope, challenge.toString("base64url"));
  return { ceremony, options: { ...(await toOptions(new Uint8Array(challenge))) } };
};

const signInScope: CeremonyScope = { kind: "passkey_sign_in" };
const toSessionScope = (c: AppContext, kind: "passkey_add" | "passkey_step"): CeremonyScope => ({
  kind,
  user_id: c.var.caller.user,
  session_id: c.var.caller.session,
});

/** Default name of a passkey: the device, or for a security key its transports ("USB · NFC"). */
const createDefaultName = (c: AppContext, attachment: string | null | undefined, transports: string): string => {
  if (attachment !== "cross-platform") return readDeviceName(c) || "Lisolo";
  const keyTransports = transports.split(",").filter((name) => ["usb", "nfc", "ble"].includes(name));
  return keyTransports.map((name) => name.toUpperCase()).join(" · ") || "Lisolo";
};

const PasskeyIdParam = v.object({ id: Uuid });

/** Passkey routes: registration, renaming, removal, sign-in, second factor and step-up. */
export const passkeyRoutes = createRoutes()
  .post(
    "/passkeys/registration/options",
    describeOperation({
      tag: "auth",
      summary: "WebAuthn options to create a passkey, to be answered within five minutes in the same session",
      ok: { status: 200, body: Ceremony },
      refusals: ["public_url_missing", "reauthentication_needed", "too_many_passkeys", "forbidden_origin"],
    }),
    authenticate,
    requirePublicOrigin,
    requireReauthentication,
    limitSession("security_by_session"),
    async (c) => {
      const db = openDb(c.env);
      const { user } = c.var.caller;
      const [account, passkeys] = await Promise.all([findAccount(db, user), listPasskeys(db, user)]);
      if (!account) return refuse(c, "session_not_found");
      if (passkeys.length >= passkeysMax) return refuse(c, "too_many_passkeys");
      const person = { ...account, handle: await getOrCreateUserHandle(db, user) };
      const scope = toSessionScope(c, "passkey_add");
      return c.json(
        await startCeremony(c, scope, (challenge) => createRegistrationOptions(c, challenge, person, passkeys)),
        200,
      );
    },
  )
  .post(
    "/passkeys",
    describeOperation({
      tag: "auth",
      summary: "Add the passkey that was created",
      ok: { status: 200, body: Passkey },
      refusals: [
        "public_url_missing",
        "invalid_input",
        "invalid_name",
        "passkey_refused",
        "too_many_passkeys",
        "forbidden_origin",
      ],
    }),
    authenticate,
    requirePublicOrigin,
    validate("json", NewPasskey),
    limitSession("security_by_session"),
    async (c) => {
      const { ceremony, name, response } = c.req.valid("json");
      const db = openDb(c.env);
      const { user, session } = c.var.caller;
      // The ceremony implies reauthentication: it was created after one, in this session, and expires sooner than a
      // registration takes.
      const scope = toSessionScope(c, "passkey_add");
      const challenge = await findCeremony(db, ceremony, scope);
      const verified = challenge === undefined ? undefined : await verifyRegistration(c, challenge, response);
      if (!verified) {
        await consumeCeremony(db, ceremony, scope);
        return refuse(c, "passkey_refused");
      }
      const passkeyName = name ?? createDefaultName(c, response.authenticatorAttachment, verified.transports);
      // Revoking other sessions' pending changes deletes the ceremony, and with it this registration.
      const passkey = await insertPasskey(
        db,
        { ...verified, user_id: user, name: passkeyName },
        toCeremonyPreconditions(ceremony, session),
      );
      if (!passkey) {
        const isFull = (await listPasskeys(db, user)).length >= passkeysMax;
        return refuse(c, isFull ? "too_many_passkeys" : "passkey_refused");
      }
      sendSecurityNotice(c, user, { event: "passkey_added", session, device: readDeviceName(c) });
      return c.json(toPasskey(passkey), 200);
    },
  )
  .put(
    "/passkeys/second-step",
    describeOperation({
      tag: "auth",
      summary: "Whether a passkey is required after the password, as a code app is",
      ok: { status: 200, body: PasskeyStep },
      refusals: ["invalid_input", "reauthentication_needed", "passkey_not_found", "forbidden_origin"],
    }),
    authenticate,
    requireReauthentication,
    validate("json", PasskeyStep),
    limitSession("security_by_session"),
    async (c) => {
      const { second_step } = c.req.valid("json");
      const { user, session } = c.var.caller;
      const db = openDb(c.env);
      const outcome = await updatePasskeyStep(db, user, second_step);
      if (outcome === "impossible") return refuse(c, "passkey_not_found");
      if (second_step) await revokeOtherReauthentications(db, c.var.caller);
      if (outcome === "changed") {
        const event = second_step ? "passkey_step_on" : "passkey_step_off";
        sendSecurityNotice(c, user, { event, session, device: readDeviceName(c) });
      }
      return c.json({ second_step }, 200);
    },
  )
  .patch(
    "/passkeys/:id",
    describeOperation({
      tag: "auth",
      summary: "Rename a passkey",
      ok: { status: 200, body: Passkey },
      refusals: ["invalid_input", "invalid_name", "passkey_not_found", "forbidden_origin"],
    }),
    authenticate,
    validate("param", PasskeyIdParam, "passkey_not_found"),
    validate("json", PasskeyRename),
    limitSession("security_by_session"),
    async (c) => {
      const { id } = c.req.valid("param");
      const passkey = await updatePasskeyName(openDb(c.env), c.var.caller.user, id, c.req.valid("json").name);
      return passkey ? c.json(toPasskey(passkey), 200) : refuse(c, "passkey_not_found");
    },
  )
  .delete(
    "/passkeys/:id",
    describeOperation({
      tag: "auth",
      summary: "Remove a passkey; removing the last one also turns off the passkey as second factor",
      ok: { status: 204, body: null },
      refusals: ["reauthentication_needed", "passkey_not_found", "forbidden_origin"],
    }),
    authenticate,
    requireReauthentication,
    validate("param", PasskeyIdParam, "passkey_not_found"),
    limitSession("security_by_session"),
    async (c) => {
      const { user, session } = c.var.caller;
      const wasDeleted = await deletePasskey(openDb(c.env), user, c.req.valid("param").id);
      if (!wasDeleted) return refuse(c, "passkey_not_found");
      sendSecurityNotice(c, user, { event: "passkey_removed", session, device: readDeviceName(c) });
      return c.body(null, 204);
    },
  )
  .post(
    "/passkeys/sign-in/options",
    describeOperation({
      tag: "auth",
      summary: "WebAuthn options to sign in with any passkey of this service",
      isPublic: true,
      ok: { status: 200, body: Ceremony },
      refusals: ["public_url_missing", "forbidden_origin"],
    }),
    requirePublicOrigin,
    limitClient("passkey_by_address"),
    async (c) =>
      c.json(await startCeremony(c, signInScope, (challenge) => createAuthenticationOptions(c, challenge)), 200),
  )
  .post(
    "/passkeys/sign-in",
    describeOperation({
      tag: "auth",
      summary: "Sign in by a passkey, without a password or a second factor",
      isPublic: true,
      ok: { status: 200, body: Session },
      refusals: ["public_url_missing", "invalid_input", "passkey_refused", "forbidden_origin"],
    }),
    requirePublicOrigin,
    validate("json", PasskeyProof),
    limitClient("passkey_by_address"),
    async (c) => {
      const { ceremony, response } = c.req.valid("json");
      const db = openDb(c.env);
      const challenge = await consumeCeremony(db, ceremony, signInScope);
      const passkey = challenge === undefined ? undefined : await verifyAuthentication(c, challenge, response);
      const account = passkey && (await findAccount(db, passkey.user_id));
      const session = account && (await startSession(c, account, "passkey", toPasskeyPreconditions(passkey)));
      return session ? c.json(session, 200) : refuse(c, "passkey_refused");
    },
  )
  .post(
    "/passkeys/step/options",
    describeOperation({
      tag: "auth",
      summary: "WebAuthn options to use one of one's own passkeys in this session",
      ok: { status: 200, body: Ceremony },
      refusals: ["public_url_missing", "passkey_not_found", "forbidden_origin"],
    }),
    authenticateAllowingPending,
    requirePublicOrigin,
    limitSession("step_by_session"),
    async (c) => {
      const passkeys = await listPasskeys(openDb(c.env), c.var.caller.user);
      if (passkeys.length === 0) return refuse(c, "passkey_not_found");
      const scope = toSessionScope(c, "passkey_step");
      return c.json(
        await startCeremony(c, scope, (challenge) => createAuthenticationOptions(c, challenge, passkeys)),
        200,
      );
    },
  )
  .post(
    "/passkeys/step",
    describeOperation({
      tag: "auth",
      summary: "Use a passkey in this session: as its missing second factor, or as reauthentication",
      ok: { status: 200, body: Session },
      refusals: ["public_url_missing", "invalid_input", "passkey_refused", "forbidden_origin"],
    }),
    authenticateAllowingPending,
    requirePublicOrigin,
    validate("json", PasskeyProof),
    limitSession("step_by_session"),
    async (c) => {
      const { ceremony, response } = c.req.valid("json");
      const scope = toSessionScope(c, "passkey_step");
      const challenge = await consumeCeremony(openDb(c.env), ceremony, scope);
      const { user } = c.var.caller;
      const passkey = challenge === undefined ? undefined : await verifyAuthentication(c, challenge, response, user);
      const session = passkey ? await acceptFactor(c, "passkey", toPasskeyPreconditions(passkey)) : "refused";
      if (typeof session === "object") return c.json(session, 200);
      return refuse(c, session === "refused" ? "passkey_refused" : session);
    },
  );
