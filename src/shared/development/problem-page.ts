import { createHash } from 'node:crypto';
import type { CodeProblem } from './code-problem.ts';

/** An answer that shows a problem to the person who develops a plugin. */
export interface ProblemPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:3rem auto;max-width:60rem;padding:0 1rem;color:#1d2433;background:#fff}' +
  'h1{font-size:1.25rem;margin:0 0 .5rem}p{margin:.5rem 0}' +
  'pre{overflow:auto;padding:1rem;border:1px solid #d5d9e2;border-radius:6px;background:#f6f7f9;font:14px/1.5 ui-monospace,monospace}' +
  '.place{font-family:ui-monospace,monospace}.message{font-weight:600;color:#b3261e;white-space:pre-wrap;overflow-wrap:anywhere}' +
  '.note{color:#5a6475;font-size:.875rem}' +
  '@media(prefers-color-scheme:dark){body{color:#e6e9ef;background:#15181e}pre{background:#1d2129;border-color:#343a46}' +
  '.message{color:#ff8a80}.note{color:#9aa3b2}}';

const styleHash = createHash('sha256').update(style).digest('base64');

const commonHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
};

/**
 * A page for the answer 500: HTML for browsers, JSON for who accepts it, else plain text. `accept`: the client's `Accept`, or null.
 * Everything of the problem is escaped: a message may contain what a client sent.
 */
export function problemPage(problem: CodeProblem, accept: string | null): ProblemPage {
  const format = preferred(accept ?? '');
  return {
    headers: { 'Content-Type': `${format}; charset=utf-8`, ...commonHeaders },
    body: render[format](problem),
  };
}

type Format = 'text/html' | 'application/json' | 'text/plain';

const render: Readonly<Record<Format, (problem: CodeProblem) => string>> = {
  'text/html': asHtml,
  'application/json': asJson,
  'text/plain': asText,
};

const formats: ReadonlyMap<string, Format> = new Map([
  ['text/html', 'text/html'],
  ['application/xhtml+xml', 'text/html'],
  ['application/json', 'application/json'],
  ['application/*', 'application/json'],
]);

/** Of equally good types the first; a person with curl, who accepts any, gets plain text. */
function preferred(accept: string): Format {
  let best: Format = 'text/plain';
  let bestQuality = 0;
  for (const part of accept.slice(0, 1024).split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const given = parameters.find((text) => text.startsWith('q='));
    const quality = given === undefined ? 1 : Number(given.slice(2)) || 0;
    if (quality <= bestQuality) continue;
    best = formats.get(type) ?? 'text/plain';
    bestQuality = quality;
  }
  return best;
}

function headline({ plugin, title }: CodeProblem): string {
  return `${plugin}: ${title}`;
}

function asJson(problem: CodeProblem): string {
  const { plugin, message, place, excerpt } = problem;
  return `${JSON.stringify({ message: `${headline(problem)}: ${message}`, plugin, place, excerpt }, null, 2)}\n`;
}

function asText(problem: CodeProblem): string {
  const { message, place, excerpt } = problem;
  const lines = [headline(problem), message];
  if (place !== null) lines.push('', place);
  if (excerpt !== null) lines.push(...excerpt.split('\n').map((line) => `  ${line}`));
  return `${lines.join('\n')}\n`;
}

function asHtml(problem: CodeProblem): string {
  const { message, place, excerpt } = problem;
  const title = escaped(headline(problem));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<p class="message">${escaped(message)}</p>
${place === null ? '' : `<p class="place">${escaped(place)}</p>\n`}${excerpt === null ? '' : `<pre>${escaped(excerpt)}</pre>\n`}<p class="note">Shown by <code>sluicegate dev</code> only. In production the client gets a 500 without details.</p>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
