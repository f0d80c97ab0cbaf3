import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { recordsOf, type SeenRecord } from '../support/log-rig.ts';
import { type RawBackend, startRawBackend } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type StreamRig, startStreamRig } from '../support/stream-rig.ts';
import { secured } from '../support/tls-client.ts';
import { until } from '../support/until.ts';

const protocols = ['tcp', 'tls', 'tls_passthrough', 'udp'];

describe('the log records of streams', () => {
  let rig: StreamRig;
  let echo: RawBackend;
  let folder = '';
  let plugin = '';
  let files = 0;
  const records = (path: string): readonly SeenRecord[] =>
    existsSync(path) ? recordsOf(readFileSync(path, 'utf8')) : [];

  /** From here on streams are logged into a separate file. */
  async function logAnew(): Promise<() => readonly SeenRecord[]> {
    const path = join(folder, `${++files}.log`);
    await rig.write('PUT', `/plugins/${plugin}`, { name: 'file-log', protocols, config: { path } });
    return () => records(path);
  }

  before(async () => {
    rig = await startStreamRig(['', 'ssl', '', '']);
    folder = rig.gateway.prefix;
    echo = await startRawBackend(({ socket }) => void socket.pipe(socket));
    const body = { name: 'file-log', protocols, config: { path: join(folder, '0.log') } };
    plugin = String((await rig.write('POST', '/plugins', body))['id']);
    const [plain, tls, dead, guarded] = rig.ports;
    await rig.route('plain', { port: echo.port }, { destinations: [{ port: plain }] });
    await rig.route(
      'tls',
      { port: echo.port },
      { protocols: ['tls'], snis: ['localhost'], destinations: [{ port: tls }] },
    );
    await rig.route('dead', { port: await freePort(), retries: 1 }, { destinations: [{ port: dead }] });
    await rig.route('guarded', { port: echo.port }, { destinations: [{ port: guarded }] });
    const config = { deny: ['127.0.0.1'] };
    await rig.write('POST', '/routes/guarded/plugins', { name: 'ip-restriction', protocols: ['tcp'], config });
  });
  after(async () => {
    await rig.close();
    await echo.close();
  });

  it('contain version and cipher when the gateway terminates TLS', async () => {
    const seen = await logAnew();
    const socket = await secured(rig.ports[1]!);
    socket.end('hello');
    socket.resume();
    await once(socket, 'close');
    await until(() => seen().length === 1);
    const { version, cipher, client_verify: verified } = seen()[0]!['session'].tls;
    assert.deepEqual([version, verified], ['TLSv1.3', 'NONE']);
    assert.match(cipher, /^TLS_/);
    assert.equal(seen()[0]?.['session'].received, 5);
    assert.equal(seen()[0]?.['route'].name, 'tls');
  });

  it('show a backend that cannot be reached in tries and status', async () => {
    const seen = await logAnew();
    using client = await openClient(rig.ports[2]!);
    await client.readToEnd();
    await until(() => seen().length === 1);
    const [record] = seen();
    assert.equal(record?.['session'].status, 502);
    assert.deepEqual(record?.['upstream'], { received: 0, sent: 0 });
    const tries: readonly SeenRecord[] = record?.['tries'];
    assert.deepEqual(
      tries.map(({ state, code, ip }) => [state, code, ip]),
      [
        ['failed', 502, '127.0.0.1'],
        ['failed', 502, '127.0.0.1'],
      ],
    );
  });

  it('are written when a plugin refuses a stream, but not without a route', async () => {
    const seen = await logAnew();
    const unknown = await secured(rig.ports[1]!, { servername: 'other.test' }).catch(() => null);
    assert.equal(unknown, null);
    using client = await openClient(rig.ports[3]!);
    await client.readToEnd();
    await until(() => seen().length === 1);
    assert.equal(seen()[0]?.['session'].status, 403);
    assert.deepEqual(seen()[0]?.['tries'], []);
    assert.equal(
      seen().some((one) => one['route']?.name === undefined),
      false,
    );
  });

  it('are written by the plugins with which the stream began', async () => {
    const first = await logAnew();
    using client = await openClient(rig.ports[0]!);
    client.write('one');
    assert.equal(await client.reader.readExactly(3), 'one');
    const second = await logAnew();
    client.end();
    await client.readToEnd();
    await until(() => first().length === 1);
    using later = await openClient(rig.ports[0]!);
    later.end();
    await later.readToEnd();
    await until(() => second().length === 1);
    assert.equal(first()[0]?.['session'].sent, 3);
    assert.equal(second()[0]?.['session'].sent, 0);
  });

  it('are written once when a stream breaks, with the bytes so far', async () => {
    const seen = await logAnew();
    using client = await openClient(rig.ports[0]!);
    client.write('broken');
    assert.equal(await client.reader.readExactly(6), 'broken');
    client.reset();
    await until(() => seen().length > 0);
    using later = await openClient(rig.ports[0]!);
    later.end();
    await later.readToEnd();
    await until(() => seen().length > 1);
    assert.deepEqual(
      seen().map((one) => one['session'].received),
      [6, 0],
    );
  });

  it('are written for streams that end with the node', async () => {
    const other = await startStreamRig([''], { drainTimeout: 100 });
    const path = join(folder, 'last.log');
    await other.route('plain', { port: echo.port }, { destinations: [{ port: other.ports[0] }] });
    await other.write('POST', '/plugins', { name: 'file-log', protocols, config: { path } });
    using client = await openClient(other.ports[0]!);
    client.write('last');
    assert.equal(await client.reader.readExactly(4), 'last');
    await other.gateway.gateway.stop(true);
    assert.deepEqual(
      records(path).map((one) => one['session'].received),
      [4],
    );
    await other.close();
  });
});
