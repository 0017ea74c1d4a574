import * as v from "valibot";
import { AuthUser, isAcceptablePassword, Session } from "../../contract/auth";
import { PasswordProof } from "../../contract/factors";
import { Uuid } from "../../contract/ids";
import { Device, Security, UserChange } from "../../contract/security";
import { openDb } from "../db/client";
import { type AppContext, afterAnswer, createRoutes } from "../lib/app";
import { authenticate, isSessionLive } from "../lib/authenticate";
import { clearSessionCookies } from "../lib/cookies";
import { operation } from "../lib/operation";
import { limitSession } from "../lib/rate-limit";
import { refuse } from "../lib/refusal";
import { validate } from "../lib/validate";
import { passwordMail } from "../mail/warnings";
import { findMeans, requireProof } from "./assurance";
import { deviceOf } from "./device-name";
import { byPassword } from "./grounds";
import { notify, notifyByMail } from "./notices";
import { prove, usesCookies } from "./opening";
import { checkOwnPassword } from "./password-check";
import { hashPassword, verifyPassword } from "./passwords";
import { listProviders } from "./providers";
import { findAccount, findOwnCredentials, toAuthUser } from "./queries";
import { setRecoveryAddress, takeMails } from "./recovery-address";
import { findSecurity, listDevices } from "./security";
import { changePassword, endSessions } from "./sessions";
import { closeSockets } from "./sockets";

const Devices = v.object({ devices: v.array(Device) });

type Hashes = { from: string; to: string };

/** The hashes of the password there is and of the new one, or why it cannot be. Nothing is written yet. */
const hashAnew = async (
  c: AppContext,
  password: string,
): Promise<Hashes | "weak_password" | "same_password" | "session_not_found"> => {
  if (!isAcceptablePassword(password)) return "weak_password";
  const own = await findOwnCredentials(openDb(c.env), c.var.caller.user);
  if (!own) return "session_not_found";
  if (await verifyPassword(password, c.env.PEPPER, own.password_hash)) return "same_password";
  return { from: own.password_hash, to: await hashPassword(password, c.env.PEPPER) };
};

/** Sets a new password; whoever else is signed in is not any more. False when another device did so in between. */
const setPassword = async (c: AppContext, hashes: Hashes): Promise<boolean> => {
  const { user, session } = c.var.caller;
  const ended = await changePassword(openDb(c.env), c.var.caller, hashes, Date.now());
  if (!ended) return false;
  afterAnswer(c.executionCtx, "close the sockets of a former password", closeSockets(c.env, user, ended));
  notify(c, user, { event: "password_changed", session, device: deviceOf(c) });
  notifyByMail(c, user, passwordMail);
  return true;
};

export const sessionRoutes = createRoutes()
  .get(
    "/security",
    operation({
      tag: "auth",
      summary: "How one's account is kept: factors, passkeys, recovery, providers, devices",
      ok: { status: 200, body: Security },
    }),
    authenticate,
    async (c) => {
      const security = await findSecurity(openDb(c.env), c.var.caller, Date.now());
      return c.json({ ...security, providers: listProviders(c.env) } satisfies Security, 200);
    },
  )
  .get(
    "/sessions",
    operation({
      tag: "auth",
      summary: "The devices one is signed in on, the one used last first",
      ok: { status: 200, body: Devices },
    }),
    authenticate,
    async (c) => c.json({ devices: await listDevices(openDb(c.env), c.var.caller, Date.now()) }, 200),
  )
  .delete(
    "/sessions/:id",
    operation({
      tag: "auth",
      summary: "Sign out one of one's own devices; its sockets close",
      ok: { status: 204, body: null },
      refusals: ["invalid_input", "not_found", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("param", v.object({ id: Uuid })),
    async (c) => {
      const { user, session } = c.var.caller;
      const ended = await endSessions(openDb(c.env), user, { only: c.req.valid("param").id });
      if (ended.length === 0) return refuse(c, "not_found");
      await closeSockets(c.env, user, ended);
      if (ended.includes(session)) {
        if (usesCookies(c)) clearSessionCookies(c);
        c.header("clear-site-data", '"cache"');
      }
      return c.body(null, 204);
    },
  )
  .delete(
    "/sessions",
    operation({
      tag: "auth",
      summary: "Sign out all one's other devices; their sockets close",
      ok: { status: 204, body: null },
      refusals: ["forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    async (c) => {
      const { user, session } = c.var.caller;
      await closeSockets(c.env, user, await endSessions(openDb(c.env), user, { allBut: session }));
      return c.body(null, 204);
    },
  )
  .post(
    "/proof",
    operation({
      tag: "auth",
      summary: "Show one's password anew, to change how one signs in; where a second step is asked for it does not do",
      ok: { status: 200, body: Session },
      refusals: ["validation_failed", "invalid_credentials", "reauthentication_needed", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("json", PasswordProof, "validation_failed"),
    async (c) => {
      const { user } = c.var.caller;
      const db = openDb(c.env);
      if ((await findMeans(db, user)).isAsked) return refuse(c, "reauthentication_needed");
      const own = await findOwnCredentials(db, user);
      if (!own) return refuse(c, "session_not_found");
      const known = { id: user, password_hash: own.password_hash };
      const checked = await checkOwnPassword(c, known, c.req.valid("json").password);
      if (checked.outcome === "limited") return refuse(c, "rate_limited", checked);
      if (checked.outcome === "wrong") return refuse(c, "invalid_credentials");
      const session = await prove(c, "password", byPassword({ user_id: user, ...checked }));
      if (typeof session === "object") return c.json(session, 200);
      return refuse(c, session === "refused" ? "reauthentication_needed" : session);
    },
  )
  .put(
    "/user",
    operation({
      tag: "auth",
      summary: "Change the password, which signs out all other devices, or the recovery address",
      ok: { status: 200, body: AuthUser },
      refusals: ["validation_failed", "reauthentication_needed", "weak_password", "same_password", "forbidden_origin"],
    }),
    authenticate,
    limitSession("security_by_session"),
    validate("json", UserChange, "validation_failed"),
    requireProof,
    async (c) => {
      const { password, email } = c.req.valid("json");
      const db = openDb(c.env);
      // All that may refuse it is asked before anything is written: both are done, or neither.
      const hashes = password === undefined ? undefined : await hashAnew(c, password);
      if (typeof hashes === "string") return refuse(c, hashes);
      const taken = email === undefined ? undefined : await takeMails(c, email);
      if (taken?.ok === false) return refuse(c, "rate_limited", taken);
      if (hashes && !(await setPassword(c, hashes))) {
        const isLive = await isSessionLive(db, c.var.caller.session);
        return refuse(c, isLive ? "reauthentication_needed" : "session_not_found");
      }
      if (email !== undefined) await setRecoveryAddress(c, email);
      const user = await findAccount(db, c.var.caller.user);
      return user ? c.json(toAuthUser(user), 200) : refuse(c, "session_not_found");
    },
  );
