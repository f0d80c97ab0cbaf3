#!/usr/bin/env node
// Plain JavaScript that runs on any Node from 18 on: it installs what is missing, finds a Node that can run
// TypeScript (24 or later), and hands over to the script named on the command line.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const wantedMajor = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

installDependencies();
const node = findNode();
const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  fail('usage: node bin/launch.js <script.ts> [arguments]');
}
run(node, ['--disable-warning=ExperimentalWarning', join(root, script), ...args]);

function installDependencies() {
  const lock = join(root, 'package-lock.json');
  const stamp = join(root, 'node_modules', '.package-lock.json');
  if (existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(lock).mtimeMs - 1000) return;
  say('installing dependencies (npm ci) ...');
  npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], root);
}

function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= wantedMajor) return process.execPath;
  const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const folder = join(root, '.runtime');
  const binary = join(
    folder,
    'node_modules',
    `node-${platform}`,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  if (!existsSync(binary)) {
    say(`this machine's Node is ${process.version}; installing Node ${wantedMajor} into .runtime/ (once) ...`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    npm(
      ['install', '--no-audit', '--no-fund', '--loglevel=error', '--no-save', `node-${platform}@${wantedMajor}`],
      folder,
    );
  }
  if (!existsSync(binary)) fail(`Node ${wantedMajor} or later is needed and none could be installed for ${platform}`);
  return binary;
}

function npm(args, cwd) {
  const result = spawnSync('npm', args, { cwd, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (result.status !== 0) fail(`npm ${args[0]} failed in ${cwd}`);
}

function run(command, commandArgs) {
  const env = {
    // Types are stripped and scripts compiled once, not at every start: a third of the start time and of the memory.
    NODE_COMPILE_CACHE: join(root, '.runtime', 'compile-cache'),
    ...process.env,
    PATH: `${dirname(command)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`,
  };
  // Where the system can, this process becomes the script: no launcher stays behind, with 45 MB and signals to hand on.
  // Not on Windows, and not before Node 22.15.
  if (process.platform !== 'win32' && typeof process.execve === 'function') {
    process.execve(command, [command, ...commandArgs], env);
  }
  const child = spawn(command, commandArgs, { stdio: 'inherit', env });
  // A terminal sends its signals to the whole group; the child decides when to end, and this process ends with it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`cannot run ${command}: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(signal ? 128 : (code ?? 1)));
}

function say(text) {
  process.stderr.write(`sluicegate: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
