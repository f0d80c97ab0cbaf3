#!/usr/bin/env node
// Runs a script of the repository: `node bin/launch.js <script.ts> [arguments]`. Plain JavaScript that works on Node 20:
// it installs missing dependencies, and a recent Node into .runtime/ when the machine's own is older than the minimum.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecentEnough, minimumNode, root } from './node-version.js';
import { fail, runNode, say } from './run-node.js';

const windows = process.platform === 'win32';
const runtime = join(root, '.runtime');
const advice = `install Node ${minimumNode} or later yourself (https://nodejs.org/en/download) and start again`;

const [script, ...args] = process.argv.slice(2);
if (script === undefined) fail('usage: node bin/launch.js <script.ts> [arguments]');
installDependencies();
runNode(findNode(), ['--conditions=sluicegate-source', join(root, script), ...args], {
  // Types are stripped and scripts compiled once, not at every start: a third of the start time and of the memory.
  NODE_COMPILE_CACHE: join(runtime, 'compile-cache'),
});

function installDependencies() {
  const lock = join(root, 'package-lock.json');
  const stamp = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(lock).mtimeMs - 1000) return;
  say('installing dependencies (npm ci) ...');
  if (!npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], root)) fail(`npm ci failed in ${root}`);
}

function findNode() {
  if (isRecentEnough(process.version)) return process.execPath;
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`;
  const folder = join(runtime, 'node_modules', name);
  const binary = join(folder, 'bin', windows ? 'node.exe' : 'node');
  const installed = existsSync(binary) ? installedVersion(folder) : null;
  if (installed !== null && isRecentEnough(installed)) return binary;
  install(name, installed);
  const version = existsSync(binary) ? installedVersion(folder) : null;
  if (version === null || !isRecentEnough(version)) {
    fail(`npm did not install Node ${minimumNode} or later for ${process.platform} ${process.arch}; ${advice}`);
  }
  return binary;
}

function install(name, installed) {
  say(
    `Sluicegate needs Node ${minimumNode} or later, and this machine has ${process.version}; ${
      installed === null ? 'installing it into' : `updating ${installed} in`
    } .runtime/ ...`,
  );
  mkdirSync(runtime, { recursive: true });
  writeFileSync(join(runtime, 'package.json'), '{"private":true}\n');
  const wanted = `${name}@^${minimumNode}`;
  if (!npm(['install', '--no-audit', '--no-fund', '--loglevel=error', '--no-save', wanted], runtime)) {
    fail(`npm could not install ${wanted}; ${advice}`);
  }
}

/** Null for a folder that npm left incomplete. */
function installedVersion(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
  } catch {
    return null;
  }
}

function npm(args, cwd) {
  return spawnSync('npm', args, { cwd, stdio: ['ignore', 2, 2], shell: windows }).status === 0;
}
