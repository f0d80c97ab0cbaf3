#!/usr/bin/env node
// The command of the package, which has compiled JavaScript in dist/; in the repository it runs the TypeScript.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isRecentEnough, minimumNode, root } from './node-version.js';
import { fail, runNode } from './run-node.js';

if (existsSync(join(root, 'src', 'main.ts'))) {
  process.argv.splice(2, 0, 'src/main.ts');
  import('./launch.js');
} else if (isRecentEnough(process.version)) {
  runNode(process.execPath, [join(root, 'dist', 'main.js'), ...process.argv.slice(2)]);
} else {
  fail(
    `Node ${minimumNode} or later is needed, and this is ${process.version} (${process.execPath}).\n` +
      'Install it from https://nodejs.org/en/download, or let npm fetch it for this command:\n' +
      `  npx --package=node@24 --package=sluicegate sluicegate ${process.argv.slice(2).join(' ')}`.trimEnd(),
  );
}
