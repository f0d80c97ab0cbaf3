import { request as send } from 'node:http';

interface Init {
  readonly method?: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
}

/** The parts of an answer that the suite reads. */
interface PlainResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: PlainHeaders;
  text(): Promise<string>;
}

class PlainHeaders extends Map<string, string> {
  override get(name: string): string | undefined {
    return super.get(name.toLowerCase());
  }

  override has(name: string): boolean {
    return super.has(name.toLowerCase());
  }
}

/**
 * Sends a request of the suite on a new connection, and nothing else: no redirects, no cache, no extra
 * headers. Any status is an answer.
 */
export function plainFetch(url: string, init: Partial<Init> = {}): Promise<PlainResponse> {
  const { method = 'GET', headers = [], body } = init;
  return new Promise((resolve, reject) => {
    const lines: Record<string, string | string[]> = {};
    for (const [name, value] of headers) {
      const known = lines[name];
      lines[name] = known === undefined ? String(value) : [known, String(value)].flat();
    }
    const outgoing = send(url, { method, headers: lines, agent: false }, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        const status = incoming.statusCode ?? 0;
        const statusText = incoming.statusMessage ?? '';
        resolve({ status, statusText, headers: readHeaders(incoming.rawHeaders), text: async () => text });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function readHeaders(raw: readonly string[]): PlainHeaders {
  const headers = new PlainHeaders();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    const known = headers.get(name);
    const value = raw[at + 1] as string;
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  return headers;
}
