import * as v from "valibot";

/** Error codes with their HTTP status. The client translates them as `errors.<code>`. */
export const errorStatus = {
  // request
  invalid_input: 400,
  too_large: 413,
  unsupported_media: 415,
  not_found: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  forbidden_origin: 403,
  unavailable: 503,
  public_url_missing: 503, // the deployment does not define its public address
  internal: 500,
  // auth (names of the public GoTrue API where it has one)
  no_authorization: 401,
  bad_jwt: 401,
  session_expired: 401,
  session_not_found: 401,
  refresh_token_not_found: 400,
  refresh_token_already_used: 400,
  session_revoked: 400, // ended by its person from elsewhere
  invalid_credentials: 400,
  phone_exists: 422,
  weak_password: 422,
  common_password: 422, // in the list of most common passwords
  captcha_failed: 400,
  validation_failed: 400,
  unsupported_grant_type: 400,
  same_password: 422,
  insufficient_aal: 401, // the session still needs its second factor
  reauthentication_needed: 403, // a recent factor is required (`stepUpSeconds` in `contract/limits/authentication.ts`)
  mfa_factor_not_found: 404,
  mfa_verification_failed: 422,
  mfa_challenge_expired: 422,
  too_many_enrolled_mfa_factors: 422,
  passkey_not_found: 404,
  passkey_refused: 400,
  too_many_passkeys: 422,
  reset_not_possible: 409,
  reset_paused: 429, // a reset was cancelled recently
  email_exists: 422,
  otp_expired: 403,
  flow_state_not_found: 404,
  bad_code_verifier: 400,
  oauth_provider_not_supported: 422,
  bad_oauth_callback: 400,
  phone_needed: 422, // no account is linked to the provider identity yet
  identity_already_exists: 422,
  identity_not_found: 404,
  // people and contacts
  query_too_short: 400,
  searches_used_up: 429, // for today
  user_not_found: 404,
  request_to_self: 400,
  request_already_sent: 409,
  request_already_received: 409,
  already_connected: 409,
  request_not_found: 404,
  request_declined: 429, // the person declined recently; another request is possible later
  requests_used_up: 429, // the sender has made as many today as their trust tier allows
  request_not_possible: 429, // the recipient takes no request now; does not say why
  accept_failed: 503,
  contact_not_found: 404,
  invalid_name: 400,
  mixed_name: 400, // letters of several scripts in one word
  reserved_name: 400, // could be mistaken for an official Lisolo account
  invalid_handle: 400,
  reserved_handle: 400, // could be mistaken for the service, or is in the operator's list
  handle_taken: 409, // by a person whose handle looks the same, now or recently
  handle_changes_used_up: 429,
  handle_needed: 409, // the account has no number, so the handle is the name it signs in by
  link_not_found: 404, // renewed, turned off or mistyped
  invitation_not_found: 404, // expired, used up, revoked or mistyped
  // verification of numbers
  number_already_verified: 409,
  number_method_unavailable: 409, // for this number, or not any more today
  number_proofs_used_up: 429, // by this person or for this number
  number_call_expected: 409, // of the same number in another session
  number_code_not_sent: 502, // refused by the service that sends codes, or without an answer
  number_code_wrong: 422,
  number_proof_expired: 410, // too late, too many wrong codes, another session or replaced by a newer one
  vouching_not_found: 404, // unknown, expired or completed, or of somebody who is no contact, or with a block
  voucher_contact_too_new: 403,
  voucher_number_too_new: 403, // not verified long enough ago by a method other than vouching
  vouches_used_up: 429,
  number_in_use: 409, // somebody else has verified it and uses the account; said only after a proof
  // files
  file_too_large: 413,
  storage_full: 507, // the person's storage quota is used up
  not_an_image: 415,
  image_too_many_pixels: 400,
  broken_image: 415, // starts like an image but cannot be decoded
  file_not_found: 404,
  file_incomplete: 409,
  file_in_use: 409,
  file_part_mismatch: 400,
  file_kind_mismatch: 415,
  invalid_file_name: 400,
  // conversations
  conversation_not_found: 404,
  conversation_full: 507, // until messages in it are deleted
  too_many_pinned: 409, // conversations pinned to the top of the list
  too_many_starred: 409, // messages of all conversations
  too_many_deleted: 409, // messages that the person deleted only for themselves
  conversation_limited: 429, // the member reached their daily bytes in this conversation; others are not affected
  message_not_found: 404,
  not_your_message: 403,
  message_withdrawn: 410, // its author deleted it before it arrived
  original_gone: 404,
  original_edited: 409, // the forwarded text is not the present one of the original
  edit_too_late: 403, // `editWindowMs` after sending
  too_many_reactions: 409, // the message has as many different ones as it can have
  too_many_pinned_messages: 409, // of one conversation
  cannot_mention_everyone: 403,
  everyone_mentioned_recently: 409, // the sender may repeat it later; never repeated by itself
  contact_blocked: 403,
  not_connected: 403,
  group_not_found: 404,
  group_exists: 409,
  group_full: 409,
  group_without_members: 400,
  invalid_group_name: 400,
  member_not_found: 404,
  groups_used_up: 429, // by a person in a lower trust tier, for today
  group_members_limited: 403, // of a group to which a person in a lower trust tier adds people
  group_invitation_not_found: 404, // or expired, withdrawn, or answered before
  not_allowed: 403,
  empty_message: 400,
  message_too_long: 400,
  invalid_text: 400,
  // tala
  empty_post: 400,
  post_too_long: 400,
  post_not_found: 404,
  posts_used_up: 409, // by a person in a lower trust tier, for today; never repeated by itself
  not_your_post: 403,
  // push
  push_endpoint_refused: 422, // not the address of a push service that this server uses
  push_not_subscribed: 404,
  push_unavailable: 501, // the deployment has no key for push services
  // account
  account_deleted: 410,
  // calls
  call_in_progress: 409,
  call_not_found: 404,
  answered_elsewhere: 409,
  // socket
  malformed_frame: 400,
  unknown_protocol: 400,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof errorStatus;

export const errorCodes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];

export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(errorStatus, value);

/** Whether a refusal is final. All other errors are worth a retry. */
export const isPermanentError = (code: ErrorCode): boolean => ![429, 500, 503, 401].includes(errorStatus[code]);

/**
 * Body of every refused request, in the form of the public GoTrue API: `code` is the HTTP status, `error_code` is for
 * programs, and `msg` is English text for developers, never shown to users.
 */
export const ApiError = v.object({
  code: v.number(),
  error_code: v.picklist(errorCodes),
  msg: v.string(),
});
export type ApiError = v.InferOutput<typeof ApiError>;
