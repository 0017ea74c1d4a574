import * as v from "valibot";

/**
 * Everything that can go wrong has a code; the client says it in the person's language (`errors.<code>`).
 * The value is the HTTP status the code travels with.
 */
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
  public_url_missing: 503, // the deployment does not say by which address people use it
  internal: 500,
  // auth (names of the public GoTrue API where it has one)
  no_authorization: 401,
  bad_jwt: 401,
  session_expired: 401,
  session_not_found: 401,
  refresh_token_not_found: 400,
  refresh_token_already_used: 400,
  invalid_credentials: 400,
  phone_exists: 422,
  weak_password: 422,
  common_password: 422, // among the first that anybody would try
  captcha_failed: 400,
  validation_failed: 400,
  unsupported_grant_type: 400,
  same_password: 422,
  insufficient_aal: 401, // the session still owes its second step
  reauthentication_needed: 403, // a factor has to be shown anew (limits.ts, stepUpSeconds)
  mfa_factor_not_found: 404,
  mfa_verification_failed: 422,
  mfa_challenge_expired: 422,
  too_many_enrolled_mfa_factors: 422,
  passkey_not_found: 404,
  passkey_refused: 400,
  too_many_passkeys: 422,
  reset_not_possible: 409,
  reset_paused: 429, // it was stopped lately
  email_exists: 422,
  otp_expired: 403,
  flow_state_not_found: 404,
  bad_code_verifier: 400,
  oauth_provider_not_supported: 422,
  bad_oauth_callback: 400,
  phone_needed: 422, // whoever a provider knows has no account yet
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
  request_declined: 429, // they declined lately; another may be sent later
  requests_used_up: 429, // one's own that wait or were declined are too many
  too_many_requests_received: 429, // whom one asks has too many that wait
  accept_failed: 503,
  contact_not_found: 404,
  invalid_name: 400,
  reserved_name: 400, // it could be taken for Lisolo's own
  // files
  file_too_large: 413,
  storage_full: 507, // one's files take all the room there is for them
  not_an_image: 415,
  image_too_many_pixels: 400,
  broken_image: 415, // it begins like a picture and cannot be read as one
  file_not_found: 404,
  file_incomplete: 409,
  file_in_use: 409,
  file_part_mismatch: 400,
  file_kind_mismatch: 415,
  invalid_file_name: 400,
  // conversations
  conversation_not_found: 404,
  conversation_full: 507, // until messages of it are deleted
  conversation_limited: 429, // one member has sent as many bytes there as are allowed in a day; other conversations go on
  message_not_found: 404,
  not_your_message: 403,
  message_withdrawn: 410, // its author deleted it before it came
  original_gone: 404,
  contact_blocked: 403,
  not_connected: 403,
  group_not_found: 404,
  group_exists: 409,
  group_full: 409,
  group_without_members: 400,
  invalid_group_name: 400,
  member_not_found: 404,
  not_your_contact: 403,
  not_addable: 403, // somebody lets nobody add them to groups
  member_has_left: 403, // somebody left this group lately and is not put back
  not_allowed: 403,
  empty_message: 400,
  message_too_long: 400,
  invalid_text: 400,
  // tala
  empty_post: 400,
  post_too_long: 400,
  post_not_found: 404,
  not_your_post: 403,
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

/** A refusal that will be the same tomorrow. Everything else is worth another try. */
export const isPermanentError = (code: ErrorCode): boolean => ![429, 500, 503, 401].includes(errorStatus[code]);

/**
 * The body of every refused request, shaped as the public GoTrue API shapes its own: `code` is the HTTP
 * status, `error_code` is what a program reads, `msg` is English for a developer and never shown to a person.
 */
export const ApiError = v.object({
  code: v.number(),
  error_code: v.picklist(errorCodes),
  msg: v.string(),
});
export type ApiError = v.InferOutput<typeof ApiError>;
