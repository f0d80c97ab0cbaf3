import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testSettings } from '../../../test/support/settings.ts';
import type { ListenAddress } from '../../shared/settings/settings.ts';
import { assignNamed } from './activated-sockets.ts';
import { distributeDescriptors, type InheritedSocket, matchSockets } from './inherited-sockets.ts';

const [base] = testSettings({ prefix: '/tmp' }).proxyListen as readonly [ListenAddress];
const address = (ip: string, port: number, udp = false): ListenAddress => ({
  ...base,
  ip,
  port,
  udp,
  reuseport: false,
});
const socket = (
  ip: string,
  port: number,
  descriptor: number,
  more: Partial<InheritedSocket> = {},
): InheritedSocket => ({
  ip,
  port,
  udp: false,
  descriptor,
  reuseport: true,
  chosen: false,
  name: '',
  ...more,
});

test('finds sockets by address, a chosen port for port 0, and names the rest', () => {
  const wanted = [
    address('127.0.0.1', 8000),
    address('127.0.0.1', 0),
    address('127.0.0.1', 53, true),
    address('::1', 9),
  ];
  const { addresses, descriptors, missing, unused, exclusive } = matchSockets(wanted, [
    socket('127.0.0.1', 8000, 4),
    socket('127.0.0.1', 8000, 5),
    socket('127.0.0.1', 40_000, 6, { chosen: true, reuseport: false }),
    socket('127.0.0.1', 53, 7),
  ]);
  assert.deepEqual(
    addresses.map(({ port, reuseport }) => [port, reuseport]),
    [
      [8000, true],
      [40_000, false],
      [53, false],
      [9, false],
    ],
  );
  assert.deepEqual(descriptors, { 'tcp 127.0.0.1:8000': [4, 5], 'tcp 127.0.0.1:40000': [6] });
  assert.deepEqual(missing, wanted.slice(2), 'a TCP socket is none of UDP');
  assert.deepEqual(
    unused.map(({ descriptor }) => descriptor),
    [7],
  );
  assert.deepEqual([...exclusive], ['tcp 127.0.0.1:40000']);
});

test('with fewer workers each accepts on several sockets, with more some open their own', () => {
  const inherited = { 'tcp 127.0.0.1:8000': [4, 5, 6] };
  const settings = { proxyListen: [address('127.0.0.1', 8000)], streamListen: [] };
  assert.deepEqual(distributeDescriptors(inherited, { ...settings, workers: 2 }), [
    { 'tcp 127.0.0.1:8000': [4, 6] },
    { 'tcp 127.0.0.1:8000': [5] },
  ]);
  assert.deepEqual(distributeDescriptors(inherited, { ...settings, workers: 4 }).at(-1), {});
});

test('a socket with the name of a listener replaces an address that has no socket', () => {
  const settings = testSettings({ prefix: '/tmp' });
  const proxyListen = [address('0.0.0.0', 80), address('0.0.0.0', 443)];
  const found = assignNamed({ ...settings, proxyListen }, [
    socket('0.0.0.0', 80, 3, { name: 'proxy' }),
    socket('10.0.0.1', 8443, 4, { name: 'proxy' }),
    socket('10.0.0.1', 9999, 5, { name: 'web' }),
  ]);
  assert.deepEqual(
    found.proxyListen.map(({ ip, port }) => [ip, port]),
    [
      ['0.0.0.0', 80],
      ['10.0.0.1', 8443],
    ],
  );
});
