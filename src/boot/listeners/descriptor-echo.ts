// Sends each socket that it has received back to its parent, as often as requested: the parent gets a new descriptor each time.
import { createSocket } from 'node:dgram';
import { Socket } from 'node:net';

const firstDescriptor = 4;

interface Handle {
  recvStop?(): void;
}

/** A handle that does not read or accept: nothing may be taken out of the queues of the sockets here. */
function handleOf(descriptor: number, udp: boolean): Handle | null {
  if (!udp) {
    const socket = new Socket({ fd: descriptor, manualStart: true } as ConstructorParameters<typeof Socket>[0]);
    return (socket as unknown as { readonly _handle: Handle })._handle;
  }
  const socket = createSocket('udp4');
  socket.bind({ fd: descriptor });
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  const state =
    symbol === undefined ? null : (socket as unknown as Record<symbol, { readonly handle: Handle }>)[symbol];
  // In the same tick: nothing was received.
  state?.handle.recvStop?.();
  return state?.handle ?? null;
}

function send(at: number, handle: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(at, handle as Socket, { keepOpen: true }, (error) => (error === null ? resolve() : reject(error)));
  });
}

// Acknowledgements arrive over the channel, which must stay open.
process.on('message', () => {});
const plan = JSON.parse(process.argv[2] ?? '[]') as readonly { readonly udp: boolean; readonly count: number }[];
for (const [at, { udp, count }] of plan.entries()) {
  const handle = handleOf(firstDescriptor + at, udp);
  for (let copy = 0; copy < count; copy++) await send(at, handle);
}
// The parent ends this process when it has them all; without the parent the channel closes, and nothing is left to do.
