import { spawn } from 'node:child_process';
import { dirname } from 'node:path';

const flags = ['--disable-warning=ExperimentalWarning'];

/** Runs a script with the given Node. Where the system can, this process becomes the script. */
export function runNode(node, args, variables = {}) {
  const nodeArgs = [...flags, ...args];
  const env = {
    ...variables,
    ...process.env,
    PATH: `${dirname(node)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`,
  };
  // Passed descriptors (socket activation) survive neither `execve`, which closes them, nor a child with another pid.
  if (process.env.LISTEN_PID === String(process.pid)) {
    say('sockets of systemd are ignored by this launcher; let the unit run node with dist/main.js itself');
  }
  // No launcher stays behind, with 45 MB and signals to pass on. Not on Windows, and not before Node 22.15.
  if (process.platform !== 'win32' && typeof process.execve === 'function') {
    process.execve(node, [node, ...nodeArgs], env);
  }
  const child = spawn(node, nodeArgs, { stdio: 'inherit', env });
  // A terminal sends its signals to the whole group; the child decides when to end, and this process ends with it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`cannot run ${node}: ${error.message}`));
  child.on('exit', (code, signal) => process.exit(signal ? 128 : (code ?? 1)));
}

export function say(text) {
  process.stderr.write(`sluicegate: ${text}\n`);
}

export function fail(text) {
  say(text);
  process.exit(1);
}
