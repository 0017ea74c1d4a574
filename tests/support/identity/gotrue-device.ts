import { expect } from "@playwright/test";
import { GoTrueClient, isAuthApiError, isAuthError, type Session } from "@supabase/auth-js";
import { makeCaptchaToken, type Site, testPassword } from "#tests/support/people/people.ts";

/** Device that uses a client library of the public GoTrue API, and the events it emitted. */
export type Device = { client: GoTrueClient; events: string[] };

/** Makes a device with its own storage, and its own address if one is given. */
export const makeDevice = async ({ origin }: Pick<Site, "origin">, address?: string): Promise<Device> => {
  const kept = new Map<string, string>();
  const events: string[] = [];
  const client = new GoTrueClient({
    url: `${origin}/api/auth`,
    headers: address ? { "cf-connecting-ip": address } : {},
    storage: {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    },
    flowType: "pkce",
    autoRefreshToken: false,
    detectSessionInUrl: false,
    persistSession: true,
  });
  client.onAuthStateChange((event) => void events.push(event));
  await client.initialize();
  return { client, events };
};

/** Data of an answer. Throws its error. */
export const getData = <A extends { data?: unknown; error: unknown }>({
  data,
  error,
}: A): Extract<A, { error: null }>["data"] => {
  if (error) throw error;
  return data;
};

export const getSession = ({ session }: { session: Session | null }): Session => {
  if (!session) throw new Error("nobody is signed in");
  return session;
};

/** Error of a refused call, as the library reports it. */
export const toRefusal = ({ error }: { error: unknown }) => {
  expect(isAuthError(error)).toBe(true);
  return isAuthApiError(error) ? { name: error.name, status: error.status, code: error.code } : error;
};
export const makeAuthError = (status: number, code: string) => ({ name: "AuthApiError", status, code });

export const signUp = async (
  site: Site,
  { client }: Device,
  phone: string,
): Promise<{ phone: string; session: Session }> => {
  const options = {
    captchaToken: await makeCaptchaToken(site, { action: "sign_up", subject: phone }),
    data: { username: "Ana Mbo" },
  };
  return { phone, session: getSession(getData(await client.signUp({ phone, password: testPassword, options }))) };
};

export const signIn = async ({ client }: Device, phone: string, password = testPassword): Promise<Session> =>
  getSession(getData(await client.signInWithPassword({ phone, password })));
