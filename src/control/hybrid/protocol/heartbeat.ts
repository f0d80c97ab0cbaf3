import type { WebSocket } from 'ws';

export interface HeartbeatOptions {
  /** Milliseconds between two pings. */
  readonly interval: number;
  /** Milliseconds without anything from the other end after which the connection is closed. */
  readonly silence: number;
  readonly onSilence: () => void;
}

/** Pings the other end, and closes the connection when nothing comes from there. Stops with the connection. */
export function watchHeartbeat(socket: WebSocket, { interval, silence, onSilence }: HeartbeatOptions): void {
  let heard = performance.now();
  const hear = (): void => {
    heard = performance.now();
  };
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, hear);
  const timer = setInterval(() => {
    if (performance.now() - heard > silence) {
      onSilence();
      socket.terminate();
    } else if (socket.readyState === socket.OPEN) socket.ping();
  }, interval).unref();
  socket.once('close', () => clearInterval(timer));
}
