import { definePlugin, httpProtocols, type PluginNeeds, reply } from '../../../src/plugin-sdk/index.ts';

/** The body of the plugin's reply: more than the kernel buffers of a loopback connection hold. */
export const replyBytes = 24 * 1024 * 1024;

/** A plugin for tests: changes where an answer ends, or fails at dangerous moments. */
export default definePlugin<{ readonly does: string }>({
  name: 'meddler',
  version: '1.0.0',
  priority: 6,
  protocols: httpProtocols,
  schema: () => import('./meddler-schema.ts'),
  needs: ({ does }): PluginNeeds => {
    if (does === 'buffer') return { responseBody: { mode: 'buffer', maxBytes: 1_000_000 } };
    if (does === 'read-twice') return { requestBody: { maxBytes: 1_000_000 } };
    return does === 'fail-body' ? { responseBody: { mode: 'stream' } } : {};
  },
  setup({ does }) {
    return {
      async access(context) {
        const { request, upstream } = context;
        if (does === 'ask-head') upstream.setMethod('HEAD');
        if (does === 'reply-100') return reply({ status: 100, body: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' });
        if (does === 'reply-large') return reply({ status: 200, body: new Uint8Array(replyBytes) });
        if (does === 'read-twice' && request.method === 'POST') {
          const [first, second] = await Promise.all([context.body(), context.body()]);
          return reply({ status: 200, body: `${first.byteLength} ${second.byteLength}` });
        }
        return undefined;
      },
      headerFilter({ response }) {
        if (does === 'say-ok') response.setStatus(200);
        if (does === 'say-no-content') response.setStatus(204);
      },
      bodyFilter() {
        if (does === 'fail-body') throw new Error('failed on purpose');
        return null;
      },
      response() {
        return undefined;
      },
    };
  },
});
