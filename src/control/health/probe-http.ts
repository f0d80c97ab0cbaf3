import type { ProbeRun, ProbeTarget } from './probe.ts';
import { openConnection } from './probe-connection.ts';

/** Maximum bytes of a status line. */
const lineCap = 4096;
const statusLine = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\0\r\n]*)?\r?\n/;

/** Requests the path; the status line is the answer. */
export function probeHttp(run: ProbeRun, target: ProbeTarget): void {
  openConnection(run, target, [], (socket) => {
    run.step('no answer came');
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      if (run.settled) return;
      text += piece;
      if (!text.includes('\n') && text.length <= lineCap) return;
      const status = statusLine.exec(text.slice(0, lineCap))?.[1];
      if (status === undefined) run.end({ kind: 'http-failure', cause: 'the answer is not HTTP' });
      else run.endReading({ kind: 'status', status: Number(status) }, socket);
    });
    socket.write(requestHead(target), 'latin1');
  });
}

/** Only connects, with TLS where the target requires it. */
export function probeTcp(run: ProbeRun, target: ProbeTarget): void {
  openConnection(run, target, [], (socket) => {
    // Closes gracefully, as some servers log every aborted connection.
    socket.end();
    run.end({ kind: 'success' });
  });
}

/** HTTP/1.0, so that the target closes the connection by itself. */
export function requestHead({ path, authority, headers }: ProbeTarget): string {
  const sendable = headers.filter(([name, value]) => isHeader(name, value));
  const has = (name: string): boolean => sendable.some(([each]) => each.toLowerCase() === name);
  const lines = sendable.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const agent = has('user-agent') ? '' : 'User-Agent: sluicegate-health-check\r\n';
  const host = has('host') ? '' : `Host: ${authority}\r\n`;
  return `GET ${requestTarget(path)} HTTP/1.0\r\n${host}${agent}${lines}\r\n`;
}

/** Removes characters that could end the line or the request. */
export function isHeader(name: string, value: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

export function requestTarget(path: string): string {
  return path.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
  );
}
