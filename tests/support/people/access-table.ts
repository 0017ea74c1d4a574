import { createUuid, privateConversationId } from "#contract/ids.ts";
import { postPicturePath } from "#contract/tala.ts";
import type { Person } from "./people.ts";

/**
 * Access rules of the HTTP API: one row for each route, one column for each role. The test that reads it
 * (tests/worker/platform/access.test.ts) fails when a route has no row.
 */

/**
 * People and data around Ana: Cal is her contact, Rita was, Ana blocks Dina, Bob has a request of Ana to answer, Sam is
 * a stranger. Cal and Dina are members of Ana's group, Rita was.
 */
export type World = {
  ana: Person;
  cal: Person;
  rita: Person;
  dina: Person;
  bob: Person;
  sam: Person;
  request: string;
  /** Bob's invitation to Ana's group. */
  invitation: string;
  avatar: string;
  /** Ana's files: `upload` has all parts but is not completed, `sent` was sent to Cal, Rita and Dina. */
  upload: { id: string; bytes: string; name: string };
  sent: string;
  group: string;
  /** Ana's code app, not confirmed yet. */
  factor: string;
  /** Ana's passkey. */
  passkey: string;
  /** Ana's status. */
  post: string;
  /** Call from Ana to Cal, in rows that need one. */
  call: string;
};

/**
 * `visitor`: no session. `revoked`: the entitled person with a revoked session. `stranger`: Sam. `other`: Bob, who
 * knows Ana but has no right to the resource. `removed`: Rita, with her former rights. `blocked`: Dina, who must see no
 * difference to not being blocked. `entitled`: the person with the right.
 */
export const roles = ["visitor", "revoked", "stranger", "other", "removed", "blocked", "entitled"] as const;
export type Role = (typeof roles)[number];
type Expected = Record<Role, number>;
type Named = "ana" | "bob" | "cal";

export type Row = {
  expected: Expected;
  /** Person with the right; Ana by default. */
  entitled?: Named;
  /** Person who knows Ana but has no right; Bob by default. */
  other?: Named;
  path?: (world: World, role: Role) => string;
  body?: (world: World, role: Role) => unknown;
  /** Whether Ana is calling Cal. */
  isCalling?: true;
  headers?: Record<string, string>;
};

const everybody = (status: number): Expected => ({
  visitor: status,
  revoked: status,
  stranger: status,
  other: status,
  removed: status,
  blocked: status,
  entitled: status,
});
const signedIn = (status: number): Expected => ({ ...everybody(status), visitor: 401, revoked: 401 });
/** Only the entitled person has access; for everybody else the resource does not exist. */
const owned: Expected = { ...signedIn(404), entitled: 200 };

/** Conversation of Ana and Cal; for Rita and Dina their own conversation with Ana. */
const conversation = ({ ana, cal, rita, dina }: World, role: Role): string => {
  const others: Partial<Record<Role, Person>> = { removed: rita, blocked: dina };
  return privateConversationId(ana.id, (others[role] ?? cal).id);
};
const callPath =
  (rest = "") =>
  ({ call }: World): string =>
    `/api/calls/${call}${rest}`;
/** Each role names its own conversation. The call is not there, and a stranger has no conversation. */
const inCall = (more: object) => (world: World, role: Role) => ({ conversation: conversation(world, role), ...more });
/** Rita keeps the history but cannot add to it. Dina sees no difference to Cal. */
const history: Expected = { ...owned, removed: 200, blocked: 200 };

const factorPath =
  (rest = "") =>
  ({ factor }: World): string =>
    `/api/auth/factors/${factor}${rest}`;
const passkeyPath = ({ passkey }: World): string => `/api/auth/passkeys/${passkey}`;
const groupPath =
  (rest = "") =>
  ({ group }: World): string =>
    `/api/groups/${group}${rest}`;
const conversationOfGroup =
  (rest: string) =>
  ({ group }: World): string =>
    `/api/conversations/${group}${rest}`;
/** Group rows, with Cal, a plain member, as `other`. A removed member is treated like a stranger. */
const members: Expected = { ...owned, other: 200, blocked: 200 };
const ownersOnly: Expected = { ...owned, other: 403, blocked: 403 };

const oneText = () => ({ messages: [{ cid: createUuid(), body: { type: "text", text: "Mbote" } }] });

export const accessTable: Record<string, Row> = {
  // Public routes. An empty body is refused after the caller was identified.
  "GET /api/health": { expected: everybody(200) },
  "GET /api/openapi.json": { expected: everybody(200) },
  "GET /api/docs": { expected: everybody(200) },
  "GET /api/number/webhooks/:adapter": { expected: everybody(404), path: () => "/api/number/webhooks/none" },
  "POST /api/number/webhooks/:adapter": { expected: everybody(404), path: () => "/api/number/webhooks/none" },
  "GET /api/auth/.well-known/jwks.json": { expected: everybody(200) },
  "POST /api/auth/challenge": {
    expected: everybody(200),
    body: ({ ana }) => ({ action: "sign_in", subject: ana.phone }),
  },
  "POST /api/auth/signup": { expected: everybody(400), body: () => ({}) },
  "POST /api/auth/token": {
    expected: everybody(400),
    path: () => "/api/auth/token?grant_type=password",
    body: () => ({}),
  },

  // Sign-in settings require a recent factor, which everybody here has.
  "POST /api/auth/factors": { expected: signedIn(200), body: () => ({ factor_type: "totp" }) },
  "DELETE /api/auth/factors/:id": { path: factorPath(), expected: owned },
  "POST /api/auth/factors/:id/challenge": { path: factorPath("/challenge"), expected: owned },
  "POST /api/auth/factors/:id/verify": {
    path: factorPath("/verify"),
    body: () => ({ challenge_id: createUuid(), code: "000000" }),
    expected: { ...owned, entitled: 422 },
  },
  "POST /api/auth/factors/reset": { expected: signedIn(409) },
  "DELETE /api/auth/factors/reset": { expected: signedIn(204) },
  "POST /api/auth/recovery-codes": { expected: signedIn(200) },
  "POST /api/auth/recovery-codes/verify": { expected: signedIn(422), body: () => ({ code: "0000" }) },
  "POST /api/auth/passkeys/registration/options": { expected: signedIn(200) },
  "POST /api/auth/passkeys": { expected: signedIn(400), body: () => ({}) },
  "PATCH /api/auth/passkeys/:id": { path: passkeyPath, expected: owned, body: () => ({ name: "Ana" }) },
  "DELETE /api/auth/passkeys/:id": { path: passkeyPath, expected: { ...owned, entitled: 204 } },
  "PUT /api/auth/passkeys/second-step": {
    expected: { ...signedIn(404), entitled: 200 },
    body: () => ({ second_step: true }),
  },
  "POST /api/auth/passkeys/sign-in/options": { expected: everybody(200) },
  "POST /api/auth/passkeys/sign-in": { expected: everybody(400), body: () => ({}) },
  "POST /api/auth/passkeys/step/options": { expected: { ...signedIn(404), entitled: 200 } },
  "POST /api/auth/passkeys/step": { expected: signedIn(400), body: () => ({}) },
  "POST /api/auth/recover": { expected: everybody(400), body: () => ({}) },
  "POST /api/auth/recover/code": { expected: everybody(400), body: () => ({}) },
  "POST /api/auth/verify/redirect": {
    expected: everybody(400),
    body: () => ({ token_hash: "none", redirect_to: "https://evil.test/" }),
  },
  "POST /api/auth/verify": { expected: everybody(403), body: () => ({ type: "recovery", token_hash: "none" }) },
  "GET /api/auth/authorize": { expected: everybody(400) },
  "GET /api/auth/callback": { expected: everybody(302) },
  "GET /api/auth/user/identities/authorize": { expected: signedIn(400) },
  // Routes without an owner; tests/worker/auth/oauth.test.ts tests who may use them.
  "DELETE /api/auth/user/identities/:id": {
    expected: signedIn(404),
    path: () => `/api/auth/user/identities/${createUuid()}`,
  },

  // Own data of every signed-in person
  "POST /api/auth/logout": { expected: signedIn(204), path: () => "/api/auth/logout?scope=others" },
  "GET /api/auth/user": { expected: signedIn(200) },
  "PUT /api/auth/user": { expected: signedIn(422), body: () => ({ password: "court" }) },
  "GET /api/auth/security": { expected: signedIn(200) },
  "GET /api/auth/sessions": { expected: signedIn(200) },
  "DELETE /api/auth/sessions": { expected: signedIn(204) },
  // Routes without an owner; tests/worker/auth/sessions.test.ts tests who may use them.
  "DELETE /api/auth/sessions/:id": { expected: signedIn(404), path: () => `/api/auth/sessions/${createUuid()}` },
  "POST /api/auth/proof": { expected: signedIn(200), body: ({ ana }) => ({ password: ana.password }) },
  "POST /api/people/search": { expected: signedIn(200), body: ({ cal }) => ({ phone: cal.phone }) },
  "GET /api/handle": { expected: signedIn(200) },
  // No two roles choose the same one.
  "PUT /api/handle": { expected: signedIn(200), body: (_, role) => ({ handle: `the.${role}` }) },
  "DELETE /api/handle": { expected: signedIn(200) },
  // What each role finds: tests/worker/people/handles.test.ts.
  "POST /api/handles/search": { expected: signedIn(200), body: () => ({ handle: "@nobody.here" }) },
  "GET /api/link": { expected: signedIn(200) },
  "POST /api/link": { expected: signedIn(200) },
  "DELETE /api/link": { expected: signedIn(200) },
  "POST /api/links/search": { expected: signedIn(404), body: () => ({ token: "unknown" }) },
  "POST /api/people/lookup": { expected: signedIn(200), body: ({ cal }) => ({ phones: [cal.phone] }) },
  "GET /api/invitation": { expected: signedIn(200) },
  "POST /api/invitation": { expected: signedIn(200) },
  "DELETE /api/invitation": { expected: signedIn(200) },
  "POST /api/invitations/accept": { expected: signedIn(404), body: () => ({ token: "unknown" }) },
  "GET /api/number": { expected: signedIn(200) },
  // Nobody receives messages from numbers here. Proofs of others: tests/worker/people/numbers/number-attacks.test.ts.
  "POST /api/number/methods": { expected: signedIn(200), body: ({ bob }) => ({ phone: bob.phone }) },
  // Notices are one's own, about contacts.
  "DELETE /api/number/notices/:userId": {
    path: ({ ana, cal }, role) => `/api/number/notices/${role === "entitled" || role === "revoked" ? cal.id : ana.id}`,
    expected: { ...owned, blocked: 200 }, // a contact, whom Ana blocks
  },
  "POST /api/number/challenge": { expected: signedIn(200), body: () => ({}) },
  "POST /api/number/proofs": { expected: signedIn(409), body: () => ({ method: "whatsapp_message" }) },
  "POST /api/number/proofs/:id/code": {
    expected: signedIn(410),
    path: () => `/api/number/proofs/${createUuid()}/code`,
    body: () => ({ code: "000000" }),
  },
  // What contacts see: tests/worker/people/numbers/vouching.test.ts.
  "GET /api/vouching/:token": { expected: signedIn(404), path: () => "/api/vouching/unknown" },
  "PUT /api/vouching/:token": { expected: signedIn(404), path: () => "/api/vouching/unknown" },
  "PATCH /api/profile": { expected: signedIn(200), body: () => ({ username: "Moi" }) },
  "PUT /api/profile/avatar": { expected: signedIn(415), body: () => "no picture" },
  "GET /api/requests": { expected: signedIn(200) },
  "GET /api/allowance": { expected: signedIn(200) },
  "GET /api/requests/contexts": { expected: signedIn(200) },
  "GET /api/group-invitations": { expected: signedIn(200) },
  "GET /api/contacts": { expected: signedIn(200) },
  "GET /api/conversations": { expected: signedIn(200) },
  "GET /api/blocks": { expected: signedIn(200) },
  "GET /api/mutes": { expected: signedIn(200) },
  "GET /api/settings": { expected: signedIn(200) },
  "PATCH /api/settings": { expected: signedIn(200), body: () => ({ receipts: false }) },
  "GET /api/push/key": { expected: signedIn(200) },
  "PUT /api/push/subscription": { expected: signedIn(400), body: () => ({}) },
  "DELETE /api/push/subscription": { expected: signedIn(204) },
  "POST /api/push/test": { expected: signedIn(404) },
  "GET /api/sync": { expected: signedIn(200), path: () => "/api/sync?since=0" },
  "GET /api/socket": { expected: signedIn(101), headers: { upgrade: "websocket", "sec-fetch-site": "same-origin" } },

  // People
  "GET /api/users/:id": {
    entitled: "cal",
    path: ({ ana }) => `/api/users/${ana.id}`,
    expected: { ...signedIn(200), stranger: 404, removed: 404 },
  },
  "GET /api/avatars/:key": { path: ({ avatar }) => `/api/avatars/${avatar}?size=50`, expected: signedIn(200) },

  // Requests: Ana asked Bob
  "POST /api/requests": {
    entitled: "cal",
    // A person without a pending request may ask. Bob has a request already, and Dina is Ana's contact.
    body: ({ ana, bob }, role) => ({ to_user_id: role === "entitled" ? bob.id : ana.id }),
    expected: { ...signedIn(200), other: 409, blocked: 409 },
  },
  "POST /api/requests/:id/accept": {
    entitled: "bob",
    other: "ana",
    path: ({ request }) => `/api/requests/${request}/accept`,
    expected: owned,
  },
  "POST /api/requests/:id/decline": {
    entitled: "bob",
    other: "ana",
    path: ({ request }) => `/api/requests/${request}/decline`,
    expected: owned,
  },
  "DELETE /api/contacts/:userId": {
    path: ({ ana, cal }, role) => `/api/contacts/${role === "removed" || role === "blocked" ? ana.id : cal.id}`,
    expected: { ...owned, blocked: 200 },
  },
  // Anybody may block anybody except themselves, and nobody learns from it who blocks them.
  "PUT /api/blocks/:userId": {
    path: ({ ana, cal }, role) => `/api/blocks/${role === "entitled" || role === "revoked" ? cal.id : ana.id}`,
    expected: signedIn(200),
  },
  // Without a block and a relation there is nobody to answer about.
  "DELETE /api/blocks/:userId": {
    path: ({ ana, dina }, role) => `/api/blocks/${role === "entitled" || role === "revoked" ? dina.id : ana.id}`,
    expected: { ...signedIn(200), stranger: 404, removed: 404 },
  },
  // Own data only: the path cannot name another person's.
  "DELETE /api/account": {
    body: ({ ana }) => ({ user_id: ana.id }),
    expected: { ...owned, entitled: 204 },
  },

  // Conversations
  "GET /api/conversations/:id/messages": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages`,
    expected: history,
  },
  "POST /api/conversations/:id/search": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/search`,
    body: () => ({ query: "mbote" }),
    expected: history,
  },
  // What each role finds: tests/worker/search/global-search.test.ts.
  "POST /api/search": {
    body: (world, role) => ({ query: "mbote", targets: [{ conversation: conversation(world, role) }] }),
    expected: signedIn(200),
  },
  "GET /api/conversations/:id/revisions": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/revisions?since=0`,
    expected: history,
  },
  // Answers to each role: presence.test.ts.
  "GET /api/conversations/:id/presence": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/presence`,
    expected: history,
  },
  "POST /api/conversations/:id/messages": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages`,
    body: oneText,
    expected: { ...owned, removed: 403, blocked: 200 },
  },
  // Each message is judged separately: refusals of a stranger are in the answer (forwarding.test.ts).
  "POST /api/messages": {
    body: (world, role) => ({
      body: { type: "text", text: "Mbote" },
      to: [{ conversation: conversation(world, role), cid: createUuid() }],
    }),
    expected: signedIn(200),
  },
  // The first message of each conversation is Ana's.
  "DELETE /api/conversations/:id/messages/:seq": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages/1`,
    expected: { ...owned, removed: 403, blocked: 403 },
  },
  "PATCH /api/conversations/:id/messages/:target": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages/1`,
    body: () => ({ edit: 0, text: "Mbote na yo" }),
    expected: { ...owned, removed: 403, blocked: 403 },
  },
  "PUT /api/conversations/:id/withdrawals/:cid": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/withdrawals/${createUuid()}`,
    expected: history,
  },
  "PUT /api/conversations/:id/messages/:seq/reaction": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages/1/reaction`,
    body: () => ({ emoji: "👍" }),
    expected: { ...history, removed: 403 },
  },
  "PUT /api/conversations/:id/messages/:seq/pin": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages/1/pin`,
    body: () => ({ pinned: true }),
    expected: { ...history, removed: 403 },
  },
  "GET /api/conversations/:id/messages/:seq/reactions": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages/1/reactions`,
    expected: history,
  },
  "GET /api/conversations/:id/messages/:seq/info": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages/1/info`,
    expected: { ...history, removed: 403, blocked: 403 },
  },
  "PATCH /api/conversations/:id/messages/:seq/flags": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/messages/1/flags`,
    body: () => ({ starred: true }),
    expected: history,
  },
  "GET /api/conversations/:id/message-flags": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/message-flags`,
    expected: history,
  },
  "PUT /api/conversations/:id/marks": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/marks`,
    body: () => ({ delivered: 0, read: 0 }),
    expected: history,
  },
  "POST /api/conversations/:id/clear": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/clear`,
    body: () => ({ upTo: 1 }),
    expected: history,
  },
  "PATCH /api/conversations/:id/flags": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/flags`,
    body: () => ({ marked: true, archived: true }),
    expected: history,
  },
  "PUT /api/conversations/:id/draft": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/draft`,
    body: () => ({ base: 0, ago: 0, text: "Mbote" }),
    expected: history,
  },
  // Own drafts only.
  "GET /api/drafts": { path: () => "/api/drafts?since=0", expected: signedIn(200) },
  "PUT /api/mutes/:id": { path: (world, role) => `/api/mutes/${conversation(world, role)}`, expected: history },
  "DELETE /api/mutes/:id": { path: (world, role) => `/api/mutes/${conversation(world, role)}`, expected: history },
  "DELETE /api/conversations/:id": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}`,
    expected: history,
  },

  // Files
  "PUT /api/files/:id": {
    path: ({ upload }) => `/api/files/${upload.id}`,
    body: ({ upload: { name, bytes } }) => ({ name, size: JSON.stringify(bytes).length }),
    expected: owned,
  },
  "GET /api/files/:id": { path: ({ upload }) => `/api/files/${upload.id}`, expected: owned },
  "PUT /api/files/:id/parts/:n": {
    path: ({ upload }) => `/api/files/${upload.id}/parts/0`,
    body: ({ upload }) => upload.bytes,
    expected: { ...owned, entitled: 204 },
  },
  "POST /api/files/:id/complete": { path: ({ upload }) => `/api/files/${upload.id}/complete`, expected: owned },
  "DELETE /api/files/:id": { path: ({ upload }) => `/api/files/${upload.id}`, expected: { ...owned, entitled: 204 } },
  "GET /api/conversations/:id/files/:file": {
    path: (world, role) => `/api/conversations/${conversation(world, role)}/files/${world.sent}`,
    // Access to files follows the connection. A blocked person keeps the files sent before.
    expected: { ...owned, blocked: 200 },
  },

  // Calls. A blocked person can call as usual, and it rings nowhere.
  "GET /api/calls": { expected: signedIn(200) },
  "POST /api/calls": {
    body: inCall({ type: "audio" }),
    expected: { ...owned, removed: 403, blocked: 200 },
  },
  "GET /api/calls/:id": { isCalling: true, path: callPath(), expected: owned },
  "GET /api/calls/:id/ice": { isCalling: true, path: callPath("/ice"), expected: owned },
  "GET /api/calls/:id/signals": { isCalling: true, path: callPath("/signals"), expected: owned },
  "POST /api/calls/:id/answer": {
    entitled: "cal",
    isCalling: true,
    path: callPath("/answer"),
    body: inCall({}),
    expected: owned,
  },
  "POST /api/calls/:id/beat": { isCalling: true, path: callPath("/beat"), body: inCall({}), expected: owned },
  "POST /api/calls/:id/signal": {
    isCalling: true,
    path: callPath("/signal"),
    body: inCall({ signal: "{}" }),
    expected: owned,
  },
  "POST /api/calls/:id/end": {
    isCalling: true,
    path: callPath("/end"),
    body: inCall({ status: "missed" }),
    expected: owned,
  },
  // A call that is still open has no feedback yet.
  "PUT /api/calls/:id/feedback": {
    isCalling: true,
    path: callPath("/feedback"),
    body: inCall({ good: true }),
    expected: { ...owned, entitled: 409 },
  },

  // Tala: everybody reads all statuses. An empty form is refused after its sender was identified.
  "GET /api/tala": { expected: signedIn(200) },
  "POST /api/tala": { body: () => ({}), expected: signedIn(415) },
  "DELETE /api/tala/:id": {
    path: ({ post }) => `/api/tala/${post}`,
    expected: { ...signedIn(403), entitled: 204 },
  },
  "GET /api/tala/pictures/:key": {
    path: ({ ana, post }) => postPicturePath(ana.id, post, "small"),
    expected: signedIn(200),
  },

  // Groups. Everybody may create one; who is no contact of theirs is invited.
  "POST /api/groups": {
    body: ({ ana, cal }, role) => ({
      id: createUuid(),
      name: "Famille",
      members: [role === "entitled" || role === "revoked" ? cal.id : ana.id],
    }),
    expected: signedIn(200),
  },
  "GET /api/groups/:id": { other: "cal", path: groupPath(), expected: members },
  "GET /api/groups/:id/members": { other: "cal", path: groupPath("/members"), expected: members },
  "PATCH /api/groups/:id": { other: "cal", path: groupPath(), body: () => ({ name: "Nous" }), expected: ownersOnly },
  "PUT /api/groups/:id/picture": {
    other: "cal",
    path: groupPath("/picture"),
    body: () => "no picture",
    expected: { ...ownersOnly, entitled: 415 },
  },
  "DELETE /api/groups/:id/picture": { other: "cal", path: groupPath("/picture"), expected: ownersOnly },
  "POST /api/groups/:id/members": {
    other: "cal",
    path: groupPath("/members"),
    body: ({ cal }) => ({ members: [cal.id] }),
    expected: ownersOnly,
  },
  "GET /api/groups/:id/invitations": { other: "cal", path: groupPath("/invitations"), expected: ownersOnly },
  "DELETE /api/groups/:id/invitations/:userId": {
    other: "cal",
    path: (world) => groupPath(`/invitations/${world.bob.id}`)(world),
    expected: { ...ownersOnly, entitled: 204 },
  },
  "POST /api/group-invitations/:id/accept": {
    entitled: "bob",
    other: "ana",
    path: ({ invitation }) => `/api/group-invitations/${invitation}/accept`,
    expected: owned,
  },
  "POST /api/group-invitations/:id/decline": {
    entitled: "bob",
    other: "ana",
    path: ({ invitation }) => `/api/group-invitations/${invitation}/decline`,
    expected: { ...owned, entitled: 204 },
  },
  "DELETE /api/groups/:id/members/:userId": {
    other: "cal",
    path: (world, role) => groupPath(`/members/${(role === "other" ? world.dina : world.cal).id}`)(world),
    expected: { ...ownersOnly, entitled: 204 },
  },
  "PUT /api/groups/:id/owner": {
    other: "cal",
    path: groupPath("/owner"),
    body: ({ cal }) => ({ user_id: cal.id }),
    expected: ownersOnly,
  },
  "DELETE /api/groups/:id": { other: "cal", path: groupPath(), expected: { ...ownersOnly, entitled: 204 } },
  "GET /api/conversations/:id/messages/:seq/receipts": {
    other: "cal",
    path: conversationOfGroup("/messages/2/receipts"),
    expected: ownersOnly,
  },
};

/** Rita, who was removed, keeps the history she had, and her own settings for it (docs/decisions/former-members.md). */
const readers: Expected = { ...members, removed: 200 };

/** The same conversation routes for a group: a removed member only reads, and a block changes nothing. */
export const groupTable: Record<string, Row> = {
  "GET /api/conversations/:id/messages": { other: "cal", path: conversationOfGroup("/messages"), expected: readers },
  "POST /api/conversations/:id/search": {
    other: "cal",
    path: conversationOfGroup("/search"),
    body: () => ({ query: "mbote" }),
    expected: readers,
  },
  "GET /api/conversations/:id/revisions": {
    other: "cal",
    path: conversationOfGroup("/revisions?since=0"),
    expected: readers,
  },
  // Not available for groups.
  "GET /api/conversations/:id/presence": {
    other: "cal",
    path: conversationOfGroup("/presence"),
    expected: signedIn(404),
  },
  "POST /api/conversations/:id/messages": {
    other: "cal",
    path: conversationOfGroup("/messages"),
    body: oneText,
    expected: members,
  },
  // The second message of the group is Ana's; the third is her file.
  "DELETE /api/conversations/:id/messages/:seq": {
    other: "cal",
    path: conversationOfGroup("/messages/2"),
    expected: ownersOnly,
  },
  "PATCH /api/conversations/:id/messages/:target": {
    other: "cal",
    path: conversationOfGroup("/messages/2"),
    body: () => ({ edit: 0, text: "Mbote na yo" }),
    expected: ownersOnly,
  },
  "PUT /api/conversations/:id/withdrawals/:cid": {
    other: "cal",
    path: ({ group }) => `/api/conversations/${group}/withdrawals/${createUuid()}`,
    expected: members,
  },
  "PUT /api/conversations/:id/messages/:seq/reaction": {
    other: "cal",
    path: conversationOfGroup("/messages/2/reaction"),
    body: () => ({ emoji: "👍" }),
    expected: members,
  },
  "PUT /api/conversations/:id/messages/:seq/pin": {
    other: "cal",
    path: conversationOfGroup("/messages/2/pin"),
    body: () => ({ pinned: true }),
    expected: ownersOnly,
  },
  "GET /api/conversations/:id/messages/:seq/reactions": {
    other: "cal",
    path: conversationOfGroup("/messages/2/reactions"),
    expected: readers,
  },
  // Only for private conversations.
  "GET /api/conversations/:id/messages/:seq/info": {
    other: "cal",
    path: conversationOfGroup("/messages/2/info"),
    expected: signedIn(400),
  },
  "PATCH /api/conversations/:id/messages/:seq/flags": {
    other: "cal",
    path: conversationOfGroup("/messages/2/flags"),
    body: () => ({ starred: true }),
    expected: readers,
  },
  "GET /api/conversations/:id/message-flags": {
    other: "cal",
    path: conversationOfGroup("/message-flags"),
    expected: readers,
  },
  // Nothing new to report: answered without asking the group.
  "PUT /api/conversations/:id/marks": {
    other: "cal",
    path: conversationOfGroup("/marks"),
    body: () => ({ delivered: 0, read: 0 }),
    expected: readers,
  },
  "POST /api/conversations/:id/clear": {
    other: "cal",
    path: conversationOfGroup("/clear"),
    body: () => ({ upTo: 1 }),
    expected: readers,
  },
  "PATCH /api/conversations/:id/flags": {
    other: "cal",
    path: conversationOfGroup("/flags"),
    body: () => ({ pinned: true }),
    expected: readers,
  },
  "PUT /api/conversations/:id/draft": {
    other: "cal",
    path: conversationOfGroup("/draft"),
    body: () => ({ base: 0, ago: 0, text: "Mbote" }),
    expected: members,
  },
  "PUT /api/mutes/:id": { other: "cal", path: ({ group }) => `/api/mutes/${group}`, expected: readers },
  "DELETE /api/mutes/:id": { other: "cal", path: ({ group }) => `/api/mutes/${group}`, expected: readers },
  "DELETE /api/conversations/:id": { other: "cal", path: conversationOfGroup(""), expected: readers },
  "GET /api/conversations/:id/files/:file": {
    other: "cal",
    path: (world) => conversationOfGroup(`/files/${world.sent}`)(world),
    expected: readers,
  },
};
/** Caller of a role; undefined for a visitor. The revoked caller is the entitled person with a revoked session. */
export const callerOf = (world: World, role: Role, { entitled = "ana", other = "bob" }: Row): Person | undefined => {
  switch (role) {
    case "visitor":
      return undefined;
    case "stranger":
      return world.sam;
    case "other":
      return world[other];
    case "removed":
      return world.rita;
    case "blocked":
      return world.dina;
    default:
      return world[entitled];
  }
};
