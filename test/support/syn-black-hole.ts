import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An address whose host drops every attempt to connect: its accept queue is full, and no process accepts. */
export interface SynBlackHole extends AsyncDisposable {
  readonly port: number;
}

const program = `
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, server.address().port + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

export async function startSynBlackHole(): Promise<SynBlackHole> {
  const child: ChildProcess = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const port = Number(line.toString());
  // As many as the queue holds can connect; further ones wait.
  const fillers: Socket[] = [];
  for (let connected = true; connected && fillers.length < 20; ) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    fillers.push(socket);
    connected = await Promise.race([
      once(socket, 'connect').then(() => true),
      new Promise<false>((resolve) => setTimeout(() => resolve(false), 300)),
    ]);
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of fillers) socket.destroy();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
