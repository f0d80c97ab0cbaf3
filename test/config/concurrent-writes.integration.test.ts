// Writes that arrive together share a transaction; each succeeds or fails alone, and has its own version and audit record.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { type AdminAnswer, startTestGateway, type TestGateway } from '../support/gateway.ts';

type Fields = Readonly<Record<string, unknown>>;

/** More than one transaction takes. */
const many = 90;
const racers = 12;

const backend = createServer((_request, response) => response.end());
let gateway: TestGateway;
before(async () => {
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  gateway = await startTestGateway();
  const { port } = backend.address() as AddressInfo;
  await made(gateway.admin('PUT', '/services/backend', { url: `http://127.0.0.1:${port}` }));
});
after(async () => {
  await gateway.stop();
  backend.close();
});

async function made(answer: Promise<AdminAnswer>): Promise<AdminAnswer> {
  const { status, body } = await answer;
  assert.ok(status < 300, JSON.stringify(body));
  return answer;
}

const versionOf = ({ headers }: AdminAnswer): number => Number(headers.get('x-sluicegate-config-version'));

const route = (name: string): Fields => ({ name, paths: [`/${name}`], tags: ['concurrent'] });

async function list(path: string): Promise<readonly Fields[]> {
  const { body } = await made(gateway.admin('GET', path));
  assert.equal(body['next'] ?? null, null);
  return body['data'] as readonly Fields[];
}

test('writes that arrive together succeed and fail one by one', async () => {
  await made(gateway.admin('PUT', '/services/used', { url: 'http://127.0.0.1:9' }));
  await made(gateway.admin('POST', '/services/used/routes', route('uses')));
  const firstVersion = versionOf(await made(gateway.admin('PUT', '/consumers/first', {})));

  const missing = '00000000-0000-4000-8000-000000000000';
  const good: Promise<AdminAnswer>[] = [];
  const racing: Promise<AdminAnswer>[] = [];
  const refused: Promise<readonly [answer: AdminAnswer, status: number]>[] = [];
  const refuse = (status: number, answer: Promise<AdminAnswer>): void => {
    refused.push(answer.then((got) => [got, status] as const));
  };
  for (let index = 0; index < many; index++) {
    good.push(gateway.admin('POST', '/services/backend/routes', route(`good-${index}`)));
    if (index % 7 === 0) racing.push(gateway.admin('POST', '/services/backend/routes', route('raced')));
    if (index % 9 === 1)
      refuse(400, gateway.admin('POST', '/routes', { ...route(`orphan-${index}`), service: { id: missing } }));
    if (index % 9 === 3) refuse(404, gateway.admin('POST', '/services/nobody/routes', route(`lost-${index}`)));
    if (index % 9 === 5) refuse(400, gateway.admin('DELETE', '/services/used'));
    if (index % 9 === 7) refuse(400, gateway.admin('POST', '/services/backend/routes', { paths: 7 }));
  }
  const created = await Promise.all(good);
  for (const answer of created) assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const raced = await Promise.all(racing);
  assert.deepEqual(raced.map(({ status }) => status).toSorted(), [
    201,
    ...Array.from({ length: raced.length - 1 }, () => 409),
  ]);
  for (const [answer, status] of await Promise.all(refused)) {
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.equal(answer.headers.get('x-sluicegate-config-version'), null);
  }

  // What was answered is stored once and routed; nothing else is there.
  const names = Array.from({ length: many }, (_, index) => `good-${index}`);
  const stored = await list('/routes?tags=concurrent&size=1000');
  assert.deepEqual(stored.map(({ name }) => String(name)).toSorted(), ['raced', 'uses', ...names].toSorted());
  const routed = await Promise.all(names.map(async (name) => (await fetch(`${gateway.proxyUrl}/${name}`)).status));
  assert.deepEqual(
    routed.filter((status) => status !== 200),
    [],
  );

  // One version of the config and one audit record for each, in the same order.
  const winners = [...created, ...raced.filter(({ status }) => status === 201)];
  const versions = (await list('/config/versions?size=1000')).filter(({ version }) => Number(version) > firstVersion);
  assert.deepEqual(
    versions.map(({ version }) => version).toSorted((a, b) => Number(a) - Number(b)),
    winners.map(versionOf).toSorted((a, b) => a - b),
  );
  const byId = new Map(winners.map((answer) => [answer.body['id'], versionOf(answer)]));
  const records = (await list('/audit?size=1000')).filter(({ entity_id: id }) => byId.has(id));
  assert.equal(records.length, winners.length);
  assert.equal(new Set(records.map(({ request_id: id }) => id)).size, winners.length);
  const order = records.toReversed().map(({ entity_id: id }) => byId.get(id) ?? 0);
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
});

test('each of the writes that shared a transaction is taken back alone', async () => {
  const answers = await Promise.all(
    Array.from({ length: racers }, (_, index) =>
      made(gateway.admin('POST', '/services/backend/routes', route(`taken-${index}`))),
    ),
  );
  const third = answers[3]!;
  await made(gateway.admin('POST', `/config/versions/${versionOf(third)}/undo`));
  for (const [index, answer] of answers.entries()) {
    const { status } = await gateway.admin('GET', `/routes/${answer.body['id']}`);
    assert.equal(status, index === 3 ? 404 : 200);
  }
});

test('edits of one row that arrive together are all applied, one after another', async () => {
  await made(gateway.admin('POST', '/services/backend/routes', route('edited')));
  const edits = await Promise.all(
    Array.from({ length: racers }, (_, index) =>
      made(gateway.admin('PATCH', '/routes/edited', { paths: [`/e${index}`] })),
    ),
  );
  const last = edits.toSorted((a, b) => versionOf(b) - versionOf(a))[0]!;
  const { body } = await made(gateway.admin('GET', '/routes/edited'));
  assert.deepEqual(body['paths'], last.body['paths']);
  // Each version begins where the one before it ended.
  const records = (await list('/audit?entity=routes&size=1000')).filter(
    ({ operation, name }) => operation === 'update' && name === 'edited',
  );
  const steps = records.toReversed().map(({ before: from, after: to }) => [pathOf(from), pathOf(to)]);
  assert.equal(steps.length, racers);
  for (const [index, [from]] of steps.entries()) assert.equal(from, index === 0 ? '/edited' : steps[index - 1]?.[1]);
});

function pathOf(fields: unknown): unknown {
  const paths = (fields as Fields | null)?.['paths'];
  return Array.isArray(paths) ? paths[0] : null;
}

test('a client that sends or reads slowly does not delay the others', async () => {
  const body = JSON.stringify(route('slow'));
  const head = `POST /services/backend/routes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const slow = await open();
  const deaf = await open();
  slow.write(head + body.slice(0, 9));
  deaf.pause();
  deaf.write(head + body.replaceAll('slow', 'deaf'));
  const others = await Promise.all(
    Array.from({ length: many }, (_, index) =>
      made(gateway.admin('POST', '/services/backend/routes', route(`other-${index}`))),
    ),
  );
  assert.equal(others.length, many);
  assert.equal((await gateway.admin('GET', '/routes/slow')).status, 404);
  const [answer] = await Promise.all([firstLine(slow), slow.write(body.slice(9))]);
  assert.equal(answer, 'HTTP/1.1 201 Created');
  deaf.resume();
  assert.equal(await firstLine(deaf), 'HTTP/1.1 201 Created');
});

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(gateway.adminUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

async function firstLine(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return bytes.toString('latin1').split('\r\n')[0] ?? '';
}
