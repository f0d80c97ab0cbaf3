// Plain JavaScript: it has to run on a Node that is too old for the gateway, to say so.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The oldest Node that runs the gateway, from `engines` of package.json: older ones of that major lack security fixes. */
export const minimumNode = engines.node.replace('>=', '');

/** Whether the version is the minimum or later; a leading `v` is allowed. */
export function isRecentEnough(version, minimum = minimumNode) {
  const have = numbersOf(version);
  const want = numbersOf(minimum);
  const differs = want.findIndex((number, index) => have[index] !== number);
  return differs === -1 || have[differs] > want[differs];
}

function numbersOf(version) {
  return version
    .replace(/^v/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10));
}
