import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, constants } from 'node:http2';
import { join } from 'node:path';
import type { BenchContext } from '../context.ts';
import { freePort } from '../machine/free-port.ts';
import { BenchError } from '../machine/tools.ts';
import type { Subject } from '../subject.ts';
import { startNginx } from './nginx.ts';

/** The method that the backend has. */
export const grpcMethod = '/bench.Items/Get';
/** Milliseconds for one call that is not part of a load. */
const patience = 5_000;

/** A gRPC message: not compressed, its length, and as many bytes. */
export function grpcMessage(length: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Buffer.alloc(length, 'x')]);
}

/** A backend of one unary method that answers with 200 bytes: nginx, since a server in Node would cost as much as what is measured. */
export async function startGrpcBackend(context: BenchContext, folder: string): Promise<Subject> {
  const root = join(folder, 'grpc-backend');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'answer'), grpcMessage(200));
  const port = await freePort();
  const backend = await startNginx(
    context.tools.nginx,
    root,
    'nginx gRPC backend',
    // A file does not answer POST, so the request becomes one for the answer; to mirror it, nginx reads its body first, without
    // which the stream would be reset.
    (plain) => `
    server {
      listen 127.0.0.1:${plain};
      listen 127.0.0.1:${port} http2 reuseport backlog=4096;
      http2_max_concurrent_streams 1000;
      location = ${grpcMethod} { mirror /dropped; alias ${root}/answer; error_page 405 =200 /answer; }
      location = /dropped { internal; return 204; }
      location = /answer {
        root ${root};
        default_type application/grpc;
        add_trailer grpc-status 0 always;
      }
      location / { return 404; }
    }`,
    'load',
  );
  return { ...backend, port, url: `http://127.0.0.1:${port}` };
}

/** nginx as a gRPC proxy without TLS, with the headers that a gateway sets. */
export async function startGrpcPeer(context: BenchContext, folder: string, backend: Subject): Promise<Subject> {
  const root = join(folder, 'grpc-peer');
  mkdirSync(root, { recursive: true });
  const port = await freePort();
  const peer = await startNginx(
    context.tools.nginx,
    root,
    'nginx',
    (plain) => `
    upstream backend {
      server 127.0.0.1:${backend.port};
      keepalive 512;
      keepalive_requests 1000000;
    }
    server {
      listen 127.0.0.1:${plain};
      listen 127.0.0.1:${port} http2 backlog=4096;
      location / {
        grpc_pass grpc://backend;
        grpc_set_header X-Real-IP $remote_addr;
        grpc_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        grpc_set_header X-Forwarded-Proto $scheme;
        grpc_set_header X-Forwarded-Host $host;
        grpc_set_header X-Forwarded-Port $server_port;
        grpc_set_header X-Request-Id $request_id;
        add_header X-Request-Id $request_id always;
        add_header Via "2 nginx" always;
      }
    }`,
  );
  return { ...peer, port, url: `http://127.0.0.1:${port}` };
}

/** Calls the method once and checks what h2load does not look at: the message, and the status in the trailers. */
export async function checkGrpc(subject: Subject): Promise<void> {
  const session = connect(subject.url);
  try {
    const outcome = await new Promise<string>((resolve, reject) => {
      session.on('error', reject);
      const headers = { ':path': grpcMethod, ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
      const stream = session.request(headers);
      stream.setTimeout(patience, () => reject(new BenchError(`${subject.name} did not answer a gRPC call`)));
      stream.on('error', reject);
      let status: unknown = 'none';
      let bytes = 0;
      stream.on('trailers', (trailers) => {
        status = trailers['grpc-status'];
      });
      stream.on('data', (piece: Buffer) => {
        bytes += piece.byteLength;
      });
      stream.on('end', () =>
        resolve(`${stream.sentHeaders[constants.HTTP2_HEADER_METHOD]} ${bytes} ${String(status)}`),
      );
      stream.end(grpcMessage(50));
    });
    if (outcome !== 'POST 205 0') throw new BenchError(`${subject.name} answered a gRPC call with ${outcome}`);
  } finally {
    session.destroy();
  }
}
