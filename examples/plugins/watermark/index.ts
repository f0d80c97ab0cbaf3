import { signHmac } from 'sluicegate/plugin-kit/auth';
import { mediaType } from 'sluicegate/plugin-kit/http';
import { type BaseContext, contextKey, definePlugin, type HeaderFilterContext } from 'sluicegate/plugin-sdk';

const scheme = { algorithm: 'sha256', encoding: 'hex' } as const; // no base64: `--` would end the comment
const markKey = contextKey<string>('watermark');

/** Marks each response with who received it, in a header and at the end of HTML pages, so that a leak shows where it came from. */
export default definePlugin({
  name: 'watermark',
  version: '1.0.0',
  capabilities: [],
  // Before `compression`, after everything that makes pages.
  priority: 58,
  protocols: ['http', 'https'],
  config: ({ string }) => ({
    secret: string({
      required: true,
      len_min: 32,
      len_max: 1024,
      encrypted: true,
      referenceable: true,
      description: 'Signs the mark, so that nobody can make one that accuses another client.',
    }),
  }),
  needs: { responseBody: { mode: 'stream' } },
  setup({ secret }) {
    function markOf({ request, client }: BaseContext): string {
      const facts = `${request.id}.${client.consumer?.id ?? 'anonymous'}`;
      return `${facts}.${signHmac(scheme, secret, facts)}`;
    }
    const isPage = ({ response }: HeaderFilterContext): boolean =>
      response.status !== 206 &&
      response.header('content-encoding') === null &&
      mediaType(response.header('content-type'))?.type === 'text/html';
    return {
      access({ upstream }) {
        // A compressed page could not be marked, and a part of one has no end.
        upstream.setHeader('Accept-Encoding', 'identity');
        upstream.removeHeader('Range');
      },
      headerFilter(context) {
        const mark = markOf(context);
        context.set(markKey, mark);
        context.response.setHeader('X-Watermark', mark);
        // It belongs to one request: no cache may keep it, and its bytes are no longer those of the validator.
        context.response.setHeader('Cache-Control', 'private, no-store');
        if (!isPage(context)) return;
        for (const name of ['ETag', 'Digest', 'Content-Digest', 'Accept-Ranges']) context.response.removeHeader(name);
      },
      bodyFilter(context) {
        const mark = context.get(markKey);
        if (mark === undefined || !isPage(context)) return null;
        return { chunk: (piece) => piece, end: () => Buffer.from(`\n<!-- ${mark} -->\n`) };
      },
      log: (context) => context.log('watermark', context.get(markKey)),
    };
  },
});
