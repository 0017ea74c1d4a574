import { generateKeyPairSync, randomUUID } from "node:crypto";
import { type CryptoKey, exportJWK, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { close, type IdentityProvider, listen } from "./identity-provider.ts";

/** Differences between a token and a valid one. */
export type Forgery = { claims?: JWTPayload; isSignedBySomebody?: true; isUnsigned?: true };

/**
 * Hand-made provider for answers that a real one never gives: it signs every visitor in at once, with a token that
 * `forge` may spoil. Its tokens are otherwise valid, which the tests check first.
 */
export const startForgingProvider = async (id: string) => {
  const kid = randomUUID();
  const [own, somebodys] = [
    generateKeyPairSync("ec", { namedCurve: "P-256" }),
    generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ];
  const jwk = { ...(await exportJWK(own.publicKey)), kid, alg: "ES256", use: "sig" };
  const client_id = `lisolo-${id}`;
  const nonces = new Map<string, string>();
  let forgery: Forgery = {};

  const makeToken = async (nonce: string): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000);
    const right = { iss: issuer, aud: client_id, sub: "forged", iat: now, exp: now + 60, nonce };
    const claims: JWTPayload = { ...right, ...forgery.claims };
    if (forgery.isUnsigned) return new UnsecuredJWT(claims).encode();
    const key = forgery.isSignedBySomebody ? somebodys.privateKey : own.privateKey;
    return new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid }).sign(key as unknown as CryptoKey);
  };

  const { server, origin: issuer } = await listen(async (request, response) => {
    const url = new URL(request.url ?? "/", issuer);
    const answer = (body: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return answer({
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["ES256"],
        });
      case "/jwks":
        return answer({ keys: [jwk] });
      case "/auth": {
        const code = randomUUID();
        nonces.set(code, url.searchParams.get("nonce") ?? "");
        const back = new URL(url.searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", code);
        back.searchParams.set("state", url.searchParams.get("state") ?? "");
        return response.writeHead(302, { location: back.href }).end();
      }
      case "/token": {
        const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
        const id_token = await makeToken(nonces.get(body.get("code") ?? "") ?? "");
        return answer({ access_token: "none", token_type: "Bearer", id_token });
      }
      default:
        return response.writeHead(404).end();
    }
  });
  return {
    issuer,
    setting: { id, name: "Forge", issuer, client_id },
    secret: "x".repeat(32),
    stop: () => close(server),
    forge: (next: Forgery) => {
      forgery = next;
    },
  } satisfies IdentityProvider & { forge: (next: Forgery) => void };
};
