import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../machine/free-port.ts';
import { placed } from '../machine/placement.ts';
import type { Subject } from '../subject.ts';
import { stopProcess, untilAnswers } from './nginx.ts';

/** HAProxy with one thread, kept connections to the backend, and the same headers as the nginx of every scenario. */
export async function startHaproxy(haproxy: string, folder: string, backend: Pick<Subject, 'port'>): Promise<Subject> {
  const root = join(folder, 'haproxy');
  mkdirSync(root, { recursive: true });
  const port = await freePort();
  const config = join(root, 'haproxy.cfg');
  writeFileSync(
    config,
    `global
      nbthread 1
      maxconn 4000
    defaults
      mode http
      option forwardfor
      http-reuse always
      timeout connect 5s
      timeout client 600s
      timeout server 600s
      timeout http-keep-alive 600s
    frontend proxy
      bind 127.0.0.1:${port} backlog 4096
      unique-id-format %[uuid()]
      unique-id-header X-Request-Id
      http-request set-header X-Real-IP %[src]
      http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
      http-request set-header X-Forwarded-Host %[req.hdr(host)]
      http-request set-header X-Forwarded-Port %[dst_port]
      http-request set-header Host 127.0.0.1:${backend.port}
      http-response set-header X-Request-Id %[unique-id]
      http-response set-header Via "1.1 haproxy"
      default_backend backend
    backend backend
      server backend 127.0.0.1:${backend.port}\n`,
  );
  const child = spawn(...placed('subject', haproxy, ['-db', '-f', config]), {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilAnswers(`http://127.0.0.1:${port}/`, child, 'haproxy');
  return {
    name: 'haproxy',
    port,
    url: `http://127.0.0.1:${port}`,
    pids: () => [child.pid as number],
    stop: () => stopProcess(child),
  };
}
