import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../machine/free-port.ts';
import { placed } from '../machine/placement.ts';
import { withChildren } from '../machine/process-figures.ts';
import { BenchError } from '../machine/tools.ts';
import type { Subject } from '../subject.ts';

/** 234 bytes of JSON: the answer of the plain scenarios. */
const answer = JSON.stringify({ id: 42, name: 'item', description: 'x'.repeat(191) });

interface Person {
  readonly name: string;
  readonly email: string;
  readonly card: string;
  readonly phone: string;
  readonly city: string;
  readonly visits: number;
}

function person(serial: number): Person {
  return {
    name: `Person ${serial}`,
    email: `person.${serial}@example.org`,
    card: `4111 1111 1111 ${1000 + serial}`,
    phone: `+44 20 7946 ${1000 + serial}`,
    city: 'London',
    visits: serial * 7,
  };
}

/** About 165 bytes for each. */
function peopleAsJson(count: number): string {
  const owner = { name: 'Ada Lovelace', iban: 'GB33BUKB20201555555555' };
  return JSON.stringify({ owner, people: Array.from({ length: count }, (_, at) => person(at)) });
}

/** About 183 bytes for each. */
function peopleAsXml(count: number): string {
  const people = Array.from({ length: count }, (_, at) => {
    const fields = Object.entries(person(at)).map(([name, value]) => `<${name}>${value}</${name}>`);
    return `<person id="${at}">${fields.join('')}</person>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<people>${people.join('')}</people>`;
}

/** Where the backend listens: as many targets as it takes. */
export const backendAddresses: readonly string[] = Array.from({ length: 10 }, (_, at) => `127.0.0.${at + 1}`);

/** Bytes of the backend's `/gigabyte`. */
export const gigabyte = 2 ** 30;

/** The backend of every scenario: small answers, files of 10 KB, 100 KB and 1 GB, uploads that are read and dropped. */
export async function startBackend(nginx: string, folder: string): Promise<Subject> {
  const root = join(folder, 'backend');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'large'), 'x'.repeat(100 * 1024));
  writeFileSync(join(root, 'people.json'), peopleAsJson(60));
  writeFileSync(join(root, 'people.xml'), peopleAsXml(560));
  writeFileSync(join(root, 'gigabyte'), '');
  // Nobody wrote what is in it, so it takes no room.
  truncateSync(join(root, 'gigabyte'), gigabyte);
  return await startNginx(
    nginx,
    root,
    'nginx backend',
    (port) => `
    server {
      ${backendAddresses.map((ip) => `listen ${ip}:${port} reuseport backlog=4096;`).join('\n      ')}
      location = /gigabyte { root ${root}; default_type application/octet-stream; }
      location = /large { root ${root}; default_type application/octet-stream; }
      location = /people.json { root ${root}; types {} default_type application/json; }
      location = /people.xml { root ${root}; types {} default_type application/xml; }
      # The body is read whole before the answer: this location is a proxy to the one below, without the body.
      location = /upload {
        client_body_buffer_size 2m;
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
        proxy_pass http://127.0.0.1:${port}/;
      }
      location / { default_type application/json; return 200 '${answer}'; }
    }`,
    'load',
  );
}

/** The peer: nginx as a proxy with the work that a gateway does for each request, and nothing more. */
export async function startPeer(nginx: string, folder: string, backend: Pick<Subject, 'port'>): Promise<Subject> {
  const root = join(folder, 'peer');
  mkdirSync(root, { recursive: true });
  return await startNginx(nginx, root, 'nginx', (port) =>
    proxyServer(backend.port, `listen 127.0.0.1:${port} backlog=4096;`),
  );
}

/** nginx as a proxy that sets two headers and generates nothing: the least that a proxy can do. */
export async function startBarePeer(nginx: string, folder: string, backend: Pick<Subject, 'port'>): Promise<Subject> {
  const root = join(folder, 'bare-peer');
  mkdirSync(root, { recursive: true });
  return await startNginx(
    nginx,
    root,
    'bare nginx',
    (port) => `
    upstream backend {
      server 127.0.0.1:${backend.port};
      keepalive 512;
      keepalive_requests 1000000;
    }
    server {
      listen 127.0.0.1:${port} backlog=4096;
      location / {
        proxy_pass http://backend;
        proxy_http_version 1.1;
        proxy_set_header Host $proxy_host;
        proxy_set_header Connection '';
      }
    }`,
  );
}

/** What the peer is made of. `listen`: the directives that say where and how it listens. */
export function proxyServer(backendPort: number, listen: string): string {
  return `
    map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
    upstream backend {
      server 127.0.0.1:${backendPort};
      keepalive 512;
      keepalive_requests 1000000;
    }
    server {
      ${listen}
      location / {
        proxy_pass http://backend;
        proxy_http_version 1.1;
        proxy_request_buffering off;
        proxy_max_temp_file_size 0;
        proxy_set_header Host $proxy_host;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $connection_upgrade;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $host;
        proxy_set_header X-Forwarded-Port $server_port;
        proxy_set_header X-Request-Id $request_id;
        add_header X-Request-Id $request_id always;
        add_header Via "1.1 nginx" always;
      }
    }`;
}

/** Runs nginx with these servers; one of them must answer plain HTTP on the port that they are given. */
export async function startNginx(
  nginx: string,
  root: string,
  name: string,
  servers: (port: number) => string,
  where: 'subject' | 'load' = 'subject',
): Promise<Subject> {
  const port = await freePort();
  const config = join(root, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    worker_processes 1;
    worker_rlimit_nofile 65536;
    pid ${root}/nginx.pid;
    error_log ${root}/error.log warn;
    events { worker_connections 32768; }
    http {
      access_log off;
      sendfile on;
      tcp_nopush on;
      keepalive_timeout 600s;
      keepalive_requests 100000000;
      client_max_body_size 0;
      client_body_temp_path ${root}/body;
      proxy_temp_path ${root}/proxy;
      fastcgi_temp_path ${root}/fastcgi;
      uwsgi_temp_path ${root}/uwsgi;
      scgi_temp_path ${root}/scgi;
      ${servers(port)}
    }`,
  );
  const words = ['-p', root, '-c', config];
  const command = where === 'subject' ? placed('subject', nginx, words) : ([nginx, words] as const);
  const child = spawn(...command, { stdio: ['ignore', 'ignore', 'inherit'] });
  await untilAnswers(`http://127.0.0.1:${port}/`, child, name);
  return {
    name,
    port,
    url: `http://127.0.0.1:${port}`,
    pids: () => withChildren(child.pid as number),
    stop: () => stopProcess(child),
  };
}

/** Waits until something answers there, with any status. */
export async function untilAnswers(url: string, child: ChildProcess, name: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new BenchError(`${name} ended with ${child.exitCode} instead of starting`);
    try {
      await (await fetch(url)).arrayBuffer();
      return;
    } catch {
      await delay(50);
    }
  }
  throw new BenchError(`${name} does not answer at ${url}`);
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exited;
  clearTimeout(timer);
}
