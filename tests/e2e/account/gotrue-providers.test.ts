import { expect, test } from "#tests/support/browser/tidy-test.ts";
import {
  type Device,
  makeDevice,
  ok,
  refusalOf,
  refused,
  signIn,
  signUp,
} from "#tests/support/identity/gotrue-device.ts";
import { phoneOf, type Site } from "#tests/support/people/people.ts";
import { comeBack, type Social, startSocial } from "#tests/support/people/social.ts";

/** The same library (gotrue-client.test.ts) through a real provider's pages. */

let social: Social;
let site: Site;
test.beforeAll(async () => {
  social = await startSocial();
  site = social.site;
});
test.afterAll(() => social.stop());

const redirectTo = () => `${site.origin}/login`;

/** Goes to the provider as `login`, and comes back with what the address brings. */
const codeFrom = async (page: string, login: string): Promise<string> => {
  const back = await comeBack(site, page, login);
  expect(back.origin + back.pathname).toBe(redirectTo());
  return back.searchParams.get("code") ?? "";
};

/** The page a program opens to sign somebody in: our address, which leads on to the provider's. */
const askToSignIn = async ({ client }: Device): Promise<string> => {
  const options = { redirectTo: redirectTo(), scopes: "openid email phone", skipBrowserRedirect: true };
  const { url } = ok(await client.signInWithOAuth({ provider: "custom:kivu", options }));
  const own = new URL(url ?? "");
  expect(own.origin + own.pathname).toBe(`${site.origin}/api/auth/authorize`);
  const led = await fetch(own, { redirect: "manual" });
  expect(led.status).toBe(302);
  const page = led.headers.get("location") ?? "";
  // What the program asks for, besides what the settings name.
  expect(new URL(page).searchParams.get("scope")).toBe("openid profile email phone");
  return page;
};

/** Links the provider's `login` to whoever is signed in on this device. */
const link = async ({ client }: Device, login: string): Promise<void> => {
  const asked = await client.linkIdentity({
    provider: "custom:kivu",
    options: { redirectTo: redirectTo(), skipBrowserRedirect: true },
  });
  ok(await client.exchangeCodeForSession(await codeFrom(ok(asked).url ?? "", login)));
};

test("links an account at a provider, signs in by it, and unlinks it", async () => {
  const device = await makeDevice(site);
  const { session, phone } = await signUp(site, device, phoneOf(7_350));
  await link(device, "amina");
  const { identities } = ok(await device.client.getUserIdentities());
  expect(identities).toMatchObject([{ provider: "kivu", user_id: session.user.id, identity_data: { sub: "amina" } }]);

  const other = await makeDevice(site);
  const signedIn = ok(await other.client.exchangeCodeForSession(await codeFrom(await askToSignIn(other), "amina")));
  expect(signedIn.user).toMatchObject({ id: session.user.id, phone, app_metadata: { providers: ["phone", "kivu"] } });
  expect(other.events).toEqual(["INITIAL_SESSION", "SIGNED_IN"]);
  expect(ok(await other.client.refreshSession()).user?.id).toBe(session.user.id);

  const [identity] = identities;
  if (!identity) throw new Error("nothing is linked");
  // A provider's word is no proof of one's own: the device that only came by it changes nothing.
  expect(refusalOf(await other.client.unlinkIdentity(identity))).toEqual(refused(403, "reauthentication_needed"));
  ok(await device.client.unlinkIdentity(identity));
  expect(ok(await device.client.getUserIdentities()).identities).toEqual([]);
  expect(refusalOf(await device.client.unlinkIdentity(identity))).toEqual(refused(404, "identity_not_found"));

  const third = await makeDevice(site);
  const unknown = await third.client.exchangeCodeForSession(await codeFrom(await askToSignIn(third), "amina"));
  expect(refusalOf(unknown)).toEqual(refused(422, "phone_needed"));
  expect((await signIn(third, phone)).user.id).toBe(session.user.id);
});

test("a code that came back is good once, and only on the device that began", async () => {
  const device = await makeDevice(site);
  await signUp(site, device, phoneOf(7_351));
  await link(device, "beatrice");

  const [begun, thief] = [await makeDevice(site), await makeDevice(site)];
  const code = await codeFrom(await askToSignIn(begun), "beatrice");
  await askToSignIn(thief); // a verifier of its own
  expect(refusalOf(await thief.client.exchangeCodeForSession(code))).toEqual(refused(400, "bad_code_verifier"));
  expect((await begun.client.exchangeCodeForSession(code)).error).toBeNull();
  await askToSignIn(begun);
  expect(refusalOf(await begun.client.exchangeCodeForSession(code))).toMatchObject({
    status: 404,
    code: "flow_state_not_found",
  });
});

test("what belongs to somebody else's account is linked to no other", async () => {
  const [ana, ben] = [await makeDevice(site), await makeDevice(site)];
  await signUp(site, ana, phoneOf(7_352));
  await signUp(site, ben, phoneOf(7_353));
  await link(ana, "carine");
  const asked = await ben.client.linkIdentity({
    provider: "custom:kivu",
    options: { redirectTo: redirectTo(), skipBrowserRedirect: true },
  });
  const back = await comeBack(site, ok(asked).url ?? "", "carine");
  expect(back.searchParams.get("error_code")).toBe("identity_already_exists");
  expect(back.searchParams.get("code")).toBeNull();
  expect(ok(await ben.client.getUserIdentities()).identities).toEqual([]);
});
