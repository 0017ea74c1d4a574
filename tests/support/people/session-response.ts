/** Server's answer that opens or renews a session of a person. */
export const makeSessionResponse = (id: string, expiresInSeconds = 600) => ({
  access_token: "",
  refresh_token: "",
  token_type: "bearer",
  expires_in: expiresInSeconds,
  expires_at: 0,
  user: {
    id,
    aud: "authenticated",
    role: "authenticated",
    phone: "243810000001",
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    user_metadata: {},
    app_metadata: { provider: "phone", providers: ["phone"] },
  },
});
