import { addVary, escapeHtml, preferredType } from 'sluicegate/plugin-kit/http';
import { definePlugin, type HeaderFilterContext } from 'sluicegate/plugin-sdk';

const titles = new Map([
  [400, 'Bad request'],
  [401, 'Please sign in'],
  [403, 'Not allowed'],
  [404, 'Not found'],
  [429, 'Too many requests'],
  [502, 'The service is not available'],
  [503, 'The service is not available'],
  [504, 'The service takes too long'],
]);

/** Shows people an HTML page instead of the JSON of the gateway's errors. Programs get what they got. */
export default definePlugin({
  name: 'html-errors',
  version: '1.0.0',
  capabilities: [],
  // Before `compression`, so that the page is compressed, too.
  priority: 59,
  protocols: ['http', 'https'],
  config: ({ boolean, string }) => ({
    site: string({ required: true, len_max: 100, description: 'Name of the site, in the title.' }),
    contact: string({ len_max: 200, description: 'A sentence below the error: where to get help.' }),
    backends: boolean({ required: true, default: false, description: 'Also errors of backends, from 500 on.' }),
  }),
  needs: { responseBody: { mode: 'stream' } },
  setup({ site, contact, backends }) {
    const ownErrors = ({ response }: HeaderFilterContext) =>
      response.source === 'gateway' ? response.status >= 400 : backends && response.status >= 500;
    const wantsPage = ({ request }: HeaderFilterContext) =>
      preferredType(request.header('accept'), ['application/json', 'text/html']) === 'text/html';
    return {
      headerFilter(context) {
        if (!ownErrors(context)) return;
        addVary(context.response, 'Accept');
        if (!wantsPage(context)) return;
        for (const name of ['Content-Encoding', 'ETag', 'Last-Modified', 'Content-Disposition', 'Digest']) {
          context.response.removeHeader(name);
        }
        context.response.setHeader('Content-Type', 'text/html; charset=utf-8');
        context.response.setHeader('Content-Security-Policy', "default-src 'none'");
        context.response.setHeader('X-Content-Type-Options', 'nosniff');
      },
      bodyFilter(context) {
        if (!ownErrors(context) || !wantsPage(context)) return null;
        const title = escapeHtml(`${titles.get(context.response.status) ?? 'Error'} - ${site}`);
        const lines = [`<h1>${title}</h1>`, `<p>Request ${escapeHtml(context.request.id)}</p>`];
        if (contact !== null) lines.push(`<p>${escapeHtml(contact)}</p>`);
        const page = `<!doctype html>\n<meta charset="utf-8">\n<title>${title}</title>\n${lines.join('\n')}\n`;
        return { chunk: () => null, end: () => Buffer.from(page) };
      },
    };
  },
});
