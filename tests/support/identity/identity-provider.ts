import { randomUUID } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** OpenID provider on this machine, and how a Worker is configured for it. */
export type IdentityProvider = {
  issuer: string;
  setting: { id: string; name: string; issuer: string; client_id: string };
  secret: string;
  stop(): Promise<void>;
};

export const listen = async (answer: RequestListener): Promise<{ server: Server; origin: string }> => {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

export const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** The login name identifies the person; no password is needed. */
const findAccount = async (_: unknown, login: string) => ({
  accountId: login,
  claims: async () => ({ sub: login, name: `${login} Kabila`, email: `${login}@example.org`, email_verified: true }),
});

/**
 * Real OpenID Connect provider (oidc-provider) with its own pages and one client: the Lisolo at `origin`. Any login
 * name works. It asks for consent afterwards, and both pages can be cancelled.
 */
export const startIdentityProvider = async (origin: string, id: string, name: string): Promise<IdentityProvider> => {
  let handle: RequestListener = (_, response) => response.writeHead(503).end();
  const { server, origin: issuer } = await listen((request, response) => handle(request, response));
  const [client_id, secret] = [`lisolo-${id}`, randomUUID()];
  const provider = new Provider(issuer, {
    clients: [{ client_id, client_secret: secret, redirect_uris: [`${origin}/api/auth/callback`] }],
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    cookies: { keys: [randomUUID()] },
    findAccount,
  });
  handle = provider.callback();
  return { issuer, setting: { id, name, issuer, client_id }, secret, stop: () => close(server) };
};

/** Worker settings for these providers. */
export const toSettings = (providers: Pick<IdentityProvider, "setting" | "secret">[]): Record<string, string> => ({
  OIDC_PROVIDERS: JSON.stringify(providers.map(({ setting }) => setting)),
  OIDC_SECRETS: JSON.stringify(Object.fromEntries(providers.map(({ setting, secret }) => [setting.id, secret]))),
});
