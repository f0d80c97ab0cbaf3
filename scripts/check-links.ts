// Every relative link of a Markdown page leads to a file, and to a heading of it where it names one.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findFiles, root } from './lib/files.ts';
import { headingsOf, type Link, scanLinks } from './lib/links.ts';
import { finish } from './lib/report.ts';

const places = [
  '*.md',
  ...['docs', 'src', 'test', 'examples', 'benchmarks', 'scripts', 'deploy'].map((place) => `${place}/**/*.md`),
];
const pages = findFiles(...places);
const links = pages.flatMap((page) => scanLinks(read(page)).map((link) => ({ page, link })));

finish(
  `${links.length} links of ${pages.length} pages lead somewhere`,
  links.filter(({ page, link }) => !leadsSomewhere(page, link)).map(({ page, link }) => brokenLine(page, link)),
);

function leadsSomewhere(page: string, { path, heading }: Link): boolean {
  const target = path === '' ? page : join(dirname(page), path);
  if (target.startsWith('..') || !existsSync(join(root, target))) return false;
  return heading === null || (target.endsWith('.md') && headingsOf(read(target)).has(heading));
}

function brokenLine(page: string, { line, path, heading }: Link): string {
  return `${page}:${line}: ${path}${heading === null ? '' : `#${heading}`} leads nowhere`;
}

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
