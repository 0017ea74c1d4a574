import { expect, test } from "#tests/support/browser/closing-test.ts";
import {
  type Device,
  getData,
  makeAuthError,
  makeDevice,
  signIn,
  signUp,
  toRefusal,
} from "#tests/support/identity/gotrue-device.ts";
import { phoneOf, type Site } from "#tests/support/people/people.ts";
import { logInAtProvider, type Social, startSocialServer } from "#tests/support/people/social-sign-in.ts";

/** Tests the same library (gotrue-client.test.ts) through a real provider's pages. */

let social: Social;
let site: Site;
test.beforeAll(async () => {
  social = await startSocialServer();
  site = social.site;
});
test.afterAll(() => social.stop());

const redirectTo = () => `${site.origin}/login`;

/** Logs in at the provider as `login`, and returns what the redirect contains. */
const codeFrom = async (page: string, login: string): Promise<string> => {
  const back = await logInAtProvider(site, page, login);
  expect(back.origin + back.pathname).toBe(redirectTo());
  return back.searchParams.get("code") ?? "";
};

/** Page that a client opens for a sign-in: an own address that redirects to the provider. */
const askToSignIn = async ({ client }: Device): Promise<string> => {
  const options = { redirectTo: redirectTo(), scopes: "openid email phone", skipBrowserRedirect: true };
  const { url } = getData(await client.signInWithOAuth({ provider: "custom:kivu", options }));
  const own = new URL(url ?? "");
  expect(own.origin + own.pathname).toBe(`${site.origin}/api/auth/authorize`);
  const led = await fetch(own, { redirect: "manual" });
  expect(led.status).toBe(302);
  const page = led.headers.get("location") ?? "";
  // Scopes requested by the client, in addition to the configured ones.
  expect(new URL(page).searchParams.get("scope")).toBe("openid profile email phone");
  return page;
};

/** Links the provider's `login` to the person signed in on this device. */
const link = async ({ client }: Device, login: string): Promise<void> => {
  const asked = await client.linkIdentity({
    provider: "custom:kivu",
    options: { redirectTo: redirectTo(), skipBrowserRedirect: true },
  });
  getData(await client.exchangeCodeForSession(await codeFrom(getData(asked).url ?? "", login)));
};

test("links an account at a provider, signs in by it, and unlinks it", async () => {
  const device = await makeDevice(site);
  const { session, phone } = await signUp(site, device, phoneOf(7_350));
  await link(device, "amina");
  const { identities } = getData(await device.client.getUserIdentities());
  expect(identities).toMatchObject([{ provider: "kivu", user_id: session.user.id, identity_data: { sub: "amina" } }]);

  const other = await makeDevice(site);
  const signedIn = getData(
    await other.client.exchangeCodeForSession(await codeFrom(await askToSignIn(other), "amina")),
  );
  expect(signedIn.user).toMatchObject({ id: session.user.id, phone, app_metadata: { providers: ["phone", "kivu"] } });
  expect(other.events).toEqual(["INITIAL_SESSION", "SIGNED_IN"]);
  expect(getData(await other.client.refreshSession()).user?.id).toBe(session.user.id);

  const [identity] = identities;
  if (!identity) throw new Error("nothing is linked");
  // A provider's sign-in is no proof of an own factor: this device may change nothing.
  expect(toRefusal(await other.client.unlinkIdentity(identity))).toEqual(makeAuthError(403, "reauthentication_needed"));
  getData(await device.client.unlinkIdentity(identity));
  expect(getData(await device.client.getUserIdentities()).identities).toEqual([]);
  expect(toRefusal(await device.client.unlinkIdentity(identity))).toEqual(makeAuthError(404, "identity_not_found"));

  const third = await makeDevice(site);
  const unknown = await third.client.exchangeCodeForSession(await codeFrom(await askToSignIn(third), "amina"));
  expect(toRefusal(unknown)).toEqual(makeAuthError(422, "phone_needed"));
  expect((await signIn(third, phone)).user.id).toBe(session.user.id);
});

test("a returned code is valid once, and only on the device that started the sign-in", async () => {
  const device = await makeDevice(site);
  await signUp(site, device, phoneOf(7_351));
  await link(device, "beatrice");

  const [begun, thief] = [await makeDevice(site), await makeDevice(site)];
  const code = await codeFrom(await askToSignIn(begun), "beatrice");
  await askToSignIn(thief); // a separate verifier
  expect(toRefusal(await thief.client.exchangeCodeForSession(code))).toEqual(makeAuthError(400, "bad_code_verifier"));
  expect((await begun.client.exchangeCodeForSession(code)).error).toBeNull();
  await askToSignIn(begun);
  expect(toRefusal(await begun.client.exchangeCodeForSession(code))).toMatchObject({
    status: 404,
    code: "flow_state_not_found",
  });
});

test("an identity of another account cannot be linked", async () => {
  const [ana, ben] = [await makeDevice(site), await makeDevice(site)];
  await signUp(site, ana, phoneOf(7_352));
  await signUp(site, ben, phoneOf(7_353));
  await link(ana, "carine");
  const asked = await ben.client.linkIdentity({
    provider: "custom:kivu",
    options: { redirectTo: redirectTo(), skipBrowserRedirect: true },
  });
  const back = await logInAtProvider(site, getData(asked).url ?? "", "carine");
  expect(back.searchParams.get("error_code")).toBe("identity_already_exists");
  expect(back.searchParams.get("code")).toBeNull();
  expect(getData(await ben.client.getUserIdentities()).identities).toEqual([]);
});
