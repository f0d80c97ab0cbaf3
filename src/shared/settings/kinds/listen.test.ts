import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listen, streamListen } from './listen.ts';

test('entries are parsed with all their flags', () => {
  const entries = listen.parse('proxy_listen', '0.0.0.0:8000 reuseport backlog=16384, [::]:8443 http2 ssl ipv6only=on');
  assert.deepEqual(
    entries.map((entry) => entry.address),
    [
      {
        ip: '0.0.0.0',
        port: 8000,
        ssl: false,
        udp: false,
        http2: false,
        proxyProtocol: false,
        reuseport: true,
        deferred: false,
        bind: false,
        backlog: 16384,
        ipv6only: false,
        listener: '0.0.0.0:8000 reuseport backlog=16384',
      },
      {
        ip: '::',
        port: 8443,
        ssl: true,
        udp: false,
        http2: true,
        proxyProtocol: false,
        reuseport: false,
        deferred: false,
        bind: false,
        backlog: 511,
        ipv6only: true,
        listener: '[::]:8443 ssl ipv6only=on',
      },
    ],
  );
});

test('an entry is shown as Kong shows it', () => {
  const [entry] = listen.parse('proxy_listen', '127.0.0.1:80 backlog=7 proxy_protocol');
  assert.deepEqual(entry?.shown, {
    ip: '127.0.0.1',
    port: 80,
    listener: '127.0.0.1:80 proxy_protocol backlog=7',
    ssl: false,
    http2: false,
    proxy_protocol: true,
    deferred: false,
    bind: false,
    reuseport: false,
    'backlog=7': true,
    'ipv6only=on': false,
    'ipv6only=off': false,
    'so_keepalive=on': false,
    'so_keepalive=off': false,
    'so_keepalive=%w*:%w*:%d*': false,
  });
});

test('off is an empty list, and port 0 and host names are accepted', () => {
  assert.deepEqual(listen.parse('proxy_listen', 'off'), []);
  assert.equal(listen.parse('proxy_listen', '127.0.0.1:0')[0]?.address.port, 0);
  assert.equal(listen.parse('proxy_listen', 'localhost:80 so_keepalive=30m::10')[0]?.address.ip, 'localhost');
});

const notAnAddress = (place: string, port = '8000'): string =>
  `proxy_listen: '${place}' is not <ip>:<port>; write 127.0.0.1:${port}, 0.0.0.0:${port} or [::]:${port}`;

const refused: Readonly<Record<string, string>> = {
  '': 'proxy_listen is empty: write <ip>:<port>, or off',
  ',': 'proxy_listen is empty: write <ip>:<port>, or off',
  '9000': notAnAddress('9000', '9000'),
  '0.0.0.0': notAnAddress('0.0.0.0'),
  '0.0.0.0:': notAnAddress('0.0.0.0:'),
  '0.0.0.0:65536': "proxy_listen: the port of '0.0.0.0:65536' must be between 0 and 65535",
  '300.0.0.1:80': notAnAddress('300.0.0.1:80'),
  '1.2.3:80': notAnAddress('1.2.3:80'),
  '::1:80': notAnAddress('::1:80'),
  '[::g]:80': notAnAddress('[::g]:80'),
  '[127.0.0.1]:80': notAnAddress('[127.0.0.1]:80'),
  'unix:/tmp/x.sock': notAnAddress('unix:/tmp/x.sock'),
  '0.0.0.0:80 sssl': "proxy_listen: unknown flag 'sssl' (did you mean ssl?)",
  '0.0.0.0:80 backlog=x':
    "proxy_listen: unknown flag 'backlog=x' (flags are ssl, http2, proxy_protocol, deferred, bind, reuseport, " +
    'backlog=<number>, ipv6only=on, ipv6only=off, so_keepalive=on, so_keepalive=off, so_keepalive=<idle>:<interval>:<count>)',
  'off, 0.0.0.0:80': 'proxy_listen: off cannot be combined with addresses',
  '0.0.0.0:80, off': notAnAddress('off'),
};

for (const [text, message] of Object.entries(refused)) {
  test(`'${text}' is refused with the reason`, () => {
    assert.throws(() => listen.parse('proxy_listen', text), { name: 'SettingsError', message });
  });
}

test('the stream listeners have their own flags', () => {
  const text = '0.0.0.0:5432, 0.0.0.0:9443 ssl proxy_protocol, [::1]:53 udp reuseport';
  const [plain, tls, udp] = streamListen.parse('stream_listen', text).map((entry) => entry.address);
  assert.deepEqual([plain?.ssl, plain?.udp, plain?.proxyProtocol], [false, false, false]);
  assert.deepEqual([tls?.ssl, tls?.udp, tls?.proxyProtocol], [true, false, true]);
  assert.deepEqual([udp?.udp, udp?.ip, udp?.listener], [true, '::1', '[::1]:53 udp reuseport']);
  assert.throws(() => streamListen.parse('stream_listen', '0.0.0.0:9443 http2'), {
    message: /^stream_listen: unknown flag 'http2' \(flags are udp, ssl, proxy_protocol, bind, reuseport, /,
  });
});
