/** The upgrade of a device's one socket. */
export const handleSocket = async (_request: Request, _env: Env): Promise<Response> =>
  new Response(null, { status: 503 });
