import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { helloMessage, inRecords, sniExtension, u16, vector } from './client-hello.fixture.ts';
import { inspectClientHello, maxClientHelloLength } from './client-hello.ts';

function nameIn(bytes: Buffer): string {
  const found = inspectClientHello(bytes);
  assert.ok(found.kind === 'done', JSON.stringify(found));
  assert.equal(found.consumed, 0);
  return found.value.serverName;
}

const grease: readonly [number, Buffer] = [0x1a1a, Buffer.from([0])];
const ech: readonly [number, Buffer] = [0xfe0d, Buffer.alloc(300, 5)];

describe('the server name of a ClientHello', () => {
  for (const options of [{}, { maxVersion: 'TLSv1.2' }, { ALPNProtocols: ['h2', 'http/1.1'] }] as const) {
    it(`is read from what Node sends with ${JSON.stringify(options)}, split at every byte`, async () => {
      const bytes = await new Promise<Buffer>((resolve) => {
        const socket = new Duplex({ read() {}, write: (piece: Buffer) => resolve(piece) });
        connect({ socket, servername: 'Some.Name.Test', ...options }).on('error', () => {});
      });
      assert.equal(nameIn(bytes), 'some.name.test');
      for (let length = 0; length < bytes.length; length++) {
        assert.equal(inspectClientHello(bytes.subarray(0, length)).kind, 'more', `${length} bytes`);
      }
    });
  }

  it('is found in a message that is spread over records of any size', () => {
    const message = helloMessage();
    for (const size of [1, 2, 3, 4, 5, 7, 50, message.length - 1, message.length]) {
      const bytes = inRecords(message, size);
      assert.equal(nameIn(bytes), 'a.test', `records of ${size} bytes`);
      for (let length = 0; length < bytes.length; length++) {
        assert.equal(inspectClientHello(bytes.subarray(0, length)).kind, 'more', `${length} bytes`);
      }
    }
  });

  it('is found next to unknown values: GREASE, ECH, other extensions', () => {
    assert.equal(
      nameIn(inRecords(helloMessage({ extensions: [grease, ech, sniExtension('a.test'), [99, u16(1)]] }))),
      'a.test',
    );
  });

  it("is '' when there is none", () => {
    assert.equal(nameIn(inRecords(helloMessage({ extensions: [] }))), '');
    assert.equal(nameIn(inRecords(helloMessage({ extensions: null }))), '');
    assert.equal(nameIn(inRecords(helloMessage({ extensions: [grease] }))), '');
  });

  it('is in lower case and without a final dot', () => {
    assert.equal(nameIn(inRecords(helloMessage({ extensions: [sniExtension('A_b.TEST.')] }))), 'a_b.test');
  });

  it('is read with the bytes after it', () => {
    assert.equal(nameIn(Buffer.concat([inRecords(helloMessage()), Buffer.from('early data')])), 'a.test');
  });
});

const name = sniExtension('a.test');
const entry = Buffer.concat([Buffer.from([0]), vector(2, Buffer.from('a.test'))]);
const good = inRecords(helloMessage());

const hostile: readonly (readonly [string, Buffer])[] = [
  ['a request', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['an SSLv2 hello', Buffer.from([0x80, 0x2e, 1, 3, 1])],
  ['an alert', Buffer.from([21, 3, 1, 0, 2, 1, 0])],
  ['another version of records', Buffer.from([22, 2, 0, 0, 5])],
  ['another handshake message', inRecords(Buffer.concat([Buffer.from([2]), helloMessage().subarray(1)]))],
  [
    'another handshake message in records of a byte',
    inRecords(Buffer.concat([Buffer.from([2]), helloMessage().subarray(1)]), 1),
  ],
  ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
  ['a record that is too long', Buffer.from([22, 3, 1, 0x40, 0x01])],
  [
    'a record of another kind within the message',
    Buffer.concat([inRecords(helloMessage().subarray(0, 20)), Buffer.from([23, 3, 3, 0, 1, 0])]),
  ],
  ['a message that is too long', Buffer.concat([Buffer.from([22, 3, 1, 0, 4, 1, 0, 0x40, 0])])],
  ['a session id that is too long', inRecords(helloMessage({ session: Buffer.alloc(33) }))],
  ['no ciphers', inRecords(helloMessage({ ciphers: Buffer.alloc(0) }))],
  ['half a cipher', inRecords(helloMessage({ ciphers: Buffer.alloc(3) }))],
  ['no compressions', inRecords(helloMessage({ compressions: Buffer.alloc(0) }))],
  ['an invalid version', inRecords(helloMessage({ version: 0x0203 }))],
  ['bytes after the extensions', inRecords(helloMessage({ rest: Buffer.alloc(1) }))],
  ['a repeated extension', inRecords(helloMessage({ extensions: [grease, grease] }))],
  ['two server names', inRecords(helloMessage({ extensions: [name, sniExtension('b.test')] }))],
  ['two names in the list', inRecords(helloMessage({ extensions: [[0, vector(2, Buffer.concat([entry, entry]))]] }))],
  ['an empty list', inRecords(helloMessage({ extensions: [[0, vector(2, Buffer.alloc(0))]] }))],
  ['an extension without a list', inRecords(helloMessage({ extensions: [[0, Buffer.alloc(0)]] }))],
  ['bytes after the list', inRecords(helloMessage({ extensions: [[0, Buffer.concat([name[1], Buffer.alloc(1)])]] }))],
  ['a list that is cut', inRecords(helloMessage({ extensions: [[0, name[1].subarray(0, -1)]] }))],
  ['a name of another type', inRecords(helloMessage({ extensions: [sniExtension('a.test', 1)] }))],
  ...['', '.', 'a..b', 'a.test..', '*.test', 'a b', 'a\0b', 'ä.test', '[::1]', 'a:1', 'a'.repeat(256)].map(
    (text) =>
      [
        `the name ${JSON.stringify(text.slice(0, 20))}`,
        inRecords(helloMessage({ extensions: [sniExtension(text)] })),
      ] as const,
  ),
];

describe('an invalid ClientHello', () => {
  for (const [what, bytes] of hostile) {
    it(`${what} is rejected, whole and byte by byte`, () => {
      assert.equal(inspectClientHello(bytes).kind, 'bad');
      const kinds = Array.from(bytes, (_, at) => inspectClientHello(bytes.subarray(0, at + 1)).kind);
      assert.ok(!kinds.includes('done'));
    });
  }

  it('is never accepted when a length in it is wrong', () => {
    for (let at = 5; at < good.length; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const broken = Buffer.from(good);
        broken[at]! ^= flip;
        const found = inspectClientHello(broken);
        if (found.kind !== 'done') continue;
        assert.match(found.value.serverName, /^[a-z0-9_.-]*$/);
      }
    }
  });

  it('is rejected in hundreds of records', () => {
    const message = helloMessage({ extensions: [[21, Buffer.alloc(400)], sniExtension('a.test')] });
    assert.equal(nameIn(inRecords(message, 3)), 'a.test');
    assert.equal(inspectClientHello(inRecords(message, 1)).kind, 'bad');
  });

  it('is rejected before it takes more memory than a long one', () => {
    const message = helloMessage({ extensions: [[21, Buffer.alloc(maxClientHelloLength)]] });
    assert.equal(inspectClientHello(inRecords(message).subarray(0, 10)).kind, 'bad');
  });
});
