import {
  type AnswerTap,
  backendReply,
  CallFailed,
  contextKey,
  definePlugin,
  httpProtocols,
  type PluginNeeds,
  type Reply,
  replyJson,
} from '../../../src/plugin-sdk/index.ts';

const seen = contextKey<string>('seen');
const answer = { status: 200, body: 'from the plugin', headers: [['X-From', 'plugin']] as const };

/** A plugin for tests: answers instead of the backend, copies what the backend sends, calls backends. */
export default definePlugin<{ readonly does: string }>({
  name: 'answerer',
  version: '1.0.0',
  priority: 7,
  protocols: httpProtocols,
  schema: () => import('./meddler-schema.ts'),
  needs: ({ does }): PluginNeeds => {
    if (does.startsWith('read-')) return { responseBody: { mode: 'buffer', maxBytes: 10_000 } };
    return does === 'decode' ? { requestBody: { maxBytes: 10_000 } } : {};
  },
  setup({ does }, tools) {
    return {
      async access(context): Promise<Reply | undefined> {
        if (does === 'stand-in') return backendReply({ ...answer, fresh: true });
        if (does === 'decode') await context.decodedBody();
        if (!does.startsWith('call')) return undefined;
        context.upstream.addHeader('X-Added', 'once');
        const bounds = { timeout: does === 'call-long' ? 30_000 : 300, maxBytes: 100_000 };
        const passed = { pass: new Set(['x-passed']), headers: [['X-Call', '1']] as const };
        try {
          const { status, body } = await context.call(
            does === 'call'
              ? { ...bounds, ...passed, to: { service: 'other' }, path: '/called' }
              : { ...bounds, pass: 'all' },
          );
          return replyJson(200, { status, body: Buffer.from(body).toString() });
        } catch (error) {
          if (!(error instanceof CallFailed)) throw error;
          return replyJson(error.status, { reason: error.reason });
        }
      },
      backendAnswer(context): AnswerTap | Reply | null {
        const { response } = context;
        if (does === 'replace' && response.status >= 500) return backendReply({ ...answer, fresh: false });
        if (does !== 'tap' && does !== 'stand-in') return null;
        let text = `${response.status} ${response.header('x-from') ?? ''} `;
        return {
          chunk: (piece) => {
            text += Buffer.from(piece).toString('latin1');
          },
          end: () => context.set(seen, `${text} (whole)`),
          aborted: () => context.set(seen, `${text} (aborted)`),
        };
      },
      backendFailure(_context, status) {
        return does === 'replace'
          ? backendReply({ ...answer, headers: [['X-Error', String(status)]], fresh: false })
          : null;
      },
      shouldBufferResponse: ({ response }) => response.header('content-type') === 'text/plain',
      response({ response }) {
        const text = Buffer.from(response.body()).toString();
        response.setBody(Buffer.from(text.toUpperCase()));
        return undefined;
      },
      log(context) {
        tools.log.info('seen', { seen: context.get(seen) ?? null });
        tools.count(context.get(seen) === undefined ? 'unseen' : 'seen');
      },
      ...(does === 'mask' ? { logMask: { query: (query: string) => query.replaceAll(/\d/g, '#') } } : {}),
    };
  },
});
