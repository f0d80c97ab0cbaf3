#!/usr/bin/env node
// The command behind `npm create sluicegate-plugin my-policy`. Plain JavaScript: Node strips no types below node_modules.
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { createPlugin, nextSteps } from './create-plugin.js';

const { version, engines } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const [target, ...more] = process.argv.slice(2);
if (target === undefined || more.length > 0 || target.startsWith('-')) {
  fail('usage: npm create sluicegate-plugin <name>');
} else {
  try {
    const folder = resolve(target);
    createPlugin(folder, { gateway: version });
    for (const line of nextSteps(relative('', folder) || '.')) console.log(line);
    if (isOlder(process.versions.node, engines.node.replace('>=', '')))
      console.log(`\nThe gateway needs Node ${engines.node.replace('>=', '')} or later; this is ${process.version}.`);
  } catch (error) {
    fail(error.message);
  }
}

function fail(text) {
  console.error(`Error: ${text}`);
  process.exitCode = 1;
}

function isOlder(version, minimum) {
  return version.localeCompare(minimum, 'en', { numeric: true }) < 0;
}
