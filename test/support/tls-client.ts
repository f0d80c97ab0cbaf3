import { execFile } from 'node:child_process';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

/** Output of `openssl s_client` for a connection, with these arguments in addition to the address. `input`: its standard input. */
export function openssl(port: number, args: readonly string[], input = 'Q\n'): Promise<string> {
  return new Promise((resolve) => {
    const given = args.includes('-servername') ? args : ['-servername', 'localhost', ...args];
    const child = execFile(
      'openssl',
      ['s_client', '-connect', `127.0.0.1:${port}`, ...given],
      { timeout: 8_000 },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** The negotiated version and cipher; null: the handshake failed. */
export async function agreed(port: number, ...args: readonly string[]): Promise<readonly [string, string] | null> {
  const text = await openssl(port, args);
  const found = /(?:New, |Reused, )(TLSv[\d.]+)\S*, Cipher is (\S+)/.exec(text);
  if (found === null || found[2] === '(NONE)') return null;
  const version = /Protocol {0,2}: (TLSv[\d.]+)/.exec(text)?.[1] ?? found[1] ?? '';
  return [version, found[2] ?? ''];
}

/** A connection after its handshake. Any certificate is accepted. */
export function secured(
  port: number,
  options: ConnectionOptions & { readonly localAddress?: string } = {},
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false, ...options },
      () => resolve(socket),
    );
    socket.on('error', reject);
  });
}

/** Common name and key type of the certificate that a client receives. */
export async function shown(port: number, servername: string, options: ConnectionOptions = {}): Promise<string> {
  const socket = await secured(port, { servername, ...options });
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  return `${/CN=(\S+)/.exec(certificate?.subject ?? '')?.[1]} ${certificate?.publicKey.asymmetricKeyType}`;
}

/** One request on a connection that stays open; resolves to the head of the answer. */
export function ask(socket: TLSSocket, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1')));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  });
}
