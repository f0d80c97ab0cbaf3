import type { Progress } from './manifest.ts';

const titles: Readonly<Record<Progress['kind'], string>> = {
  building: 'The dashboard is being built',
  missing: 'The dashboard has not been built',
  failed: 'The dashboard could not be built',
};

/** Path of the style sheet of the page, below that of the dashboard. */
export const noticeStylePath = 'notice.css';

/** The page that stands for the dashboard while there are no built files. It reloads itself, without a script. */
export function noticePage(progress: Progress, base: string): string {
  const title = titles[progress.kind];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="${progress.kind === 'building' ? 1 : 5}">
<title>${title} · Sluicegate</title>
<link rel="stylesheet" href="${base}${noticeStylePath}">
</head>
<body>
<main>
<h1>${title}</h1>
${explanation(progress)}
<p>The gateway works without it. The Admin API is at <a href="${base}api/">${base}api/</a>.</p>
</main>
</body>
</html>
`;
}

function explanation(progress: Progress): string {
  switch (progress.kind) {
    case 'building':
      return '<p>This takes a few seconds, once after a clone or an update. The page reloads by itself.</p>';
    case 'missing':
      return '<p>The published package contains the built files; a clone builds them at the first <code>npm start</code>. To build them now:</p><pre>npm run build:dashboard</pre><p>The page reloads by itself when they are there.</p>';
    case 'failed':
      return `<p>The build ended with an error:</p><pre>${escaped(progress.error)}</pre><p>Run <code>npm run build:dashboard</code> to try again.</p>`;
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export const noticeStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { max-width: 36rem; padding: 2rem; }
h1 { font-size: 1.4rem; }
pre { padding: .75rem 1rem; border: 1px solid #8884; border-radius: .5rem; white-space: pre-wrap; }
`;
