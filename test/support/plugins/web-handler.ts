import { replyFrom, webRequest, webResponse } from '../../../src/plugin-kit/web/index.ts';
import { definePlugin, httpProtocols } from '../../../src/plugin-sdk/index.ts';

/** A plugin for tests: a handler of the web platform. It answers with what it sees of the request, or marks the response. */
export default definePlugin({
  name: 'web-handler',
  version: '1.0.0',
  priority: 8,
  protocols: httpProtocols,
  schema: () => import('./empty-schema.ts'),
  needs: { requestBody: { maxBytes: 10_000 }, responseBody: { mode: 'buffer', maxBytes: 10_000 } },
  setup: () => ({
    async access(context) {
      const response = await answer(webRequest(context));
      return response === null ? undefined : replyFrom(response);
    },
    async response(context) {
      const response = webResponse(context);
      const headers = new Headers(response.headers);
      headers.set('X-Handled', `${response.status} ${(await response.clone().text()).length}`);
      return replyFrom(new Response(response.body, { status: response.status, headers }));
    },
  }),
});

async function answer(request: Request): Promise<Response | null> {
  const { url, method, headers } = request;
  if (new URL(url).pathname === '/backend') return null;
  const body = await request.text();
  const cookies = new Headers([
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
    ['Connection', 'X-Secret'],
    ['Content-Length', '5'],
  ]);
  return Response.json({ url, method, headers: [...headers], body }, { headers: cookies });
}
