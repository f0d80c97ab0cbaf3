import { definePlugin, httpProtocols, type Reply, reply } from '../../../src/plugin-sdk/index.ts';

/** Framing headers, in spellings that a careless plugin may use. */
export const framingFields: readonly (readonly [string, string])[] = [
  ['content-length', '3'],
  ['CONTENT-LENGTH', '99'],
  ['Content_Length', '4'],
  ['transfer-encoding', 'chunked'],
  ['Transfer_Encoding', 'gzip'],
  ['Connection', 'X-Kept'],
  ['keep-alive', 'timeout=1'],
  ['upgrade', 'foo'],
  ['Trailer', 'X-T'],
  ['te', 'gzip'],
];

/** A plugin for tests: tries to set framing headers with every method of the contexts. */
export default definePlugin<{ readonly does: string }>({
  name: 'framer',
  version: '1.0.0',
  priority: 5,
  protocols: httpProtocols,
  schema: () => import('./meddler-schema.ts'),
  setup({ does }) {
    return {
      access({ upstream }): Reply | undefined {
        if (does === 'reply')
          return reply({
            status: 200,
            body: 'hello',
            headers: { ...Object.fromEntries(framingFields), 'X-Kept': '1' },
          });
        if (does !== 'request') return undefined;
        for (const [name, value] of framingFields) {
          attempt(() => upstream.setHeader(name, value));
          attempt(() => upstream.addHeader(name, value));
          attempt(() => upstream.setAbsentHeader(name, value));
          attempt(() => upstream.removeHeader(name));
        }
        for (const name of ['host', 'HOST']) {
          attempt(() => upstream.setAbsentHeader(name, 'set.test'));
          attempt(() => upstream.addHeader(name, 'added.test'));
        }
        upstream.setHeader('X-Kept', '1');
        return undefined;
      },
      headerFilter({ response }) {
        if (does !== 'answer') return;
        for (const [name, value] of framingFields) {
          attempt(() => response.setHeader(name, value));
          attempt(() => response.addHeader(name, value));
          attempt(() => response.removeHeader(name));
        }
        response.setHeader('X-Kept', '1');
      },
    };
  },
});

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The gateway refuses it.
  }
}
