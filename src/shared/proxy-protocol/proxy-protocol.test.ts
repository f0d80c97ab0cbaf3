import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspectProxyHeader, maxProxyHeaderLength } from './proxy-protocol.ts';

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

function v2(command: number, family: number, body: Buffer, length = body.length): Buffer {
  const head = Buffer.from([command, family, length >> 8, length & 0xff]);
  return Buffer.concat([signature, head, body]);
}

const ipv4 = Buffer.from([192, 0, 2, 7, 10, 0, 0, 1, 0x9c, 0x40, 0x01, 0xbb]);
const ipv6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000007', 'hex'),
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from([0x9c, 0x40, 0x01, 0xbb]),
]);
const tlv = Buffer.from([0x01, 0x00, 0x02, 0x68, 0x32]);

const good: readonly (readonly [string, Buffer, { readonly ip: string; readonly port: number } | null])[] = [
  ['TCP4', line('PROXY TCP4 192.0.2.7 10.0.0.1 40000 443'), { ip: '192.0.2.7', port: 40000 }],
  ['TCP6', line('PROXY TCP6 2001:DB8:0:0:0:0:0:7 ::1 0 65535'), { ip: '2001:db8::7', port: 0 }],
  ['a mapped address', line('PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2'), { ip: '192.0.2.7', port: 1 }],
  ['an address behind NAT64', line('PROXY TCP6 64:ff9b::c000:207 ::1 1 2'), { ip: '192.0.2.7', port: 1 }],
  ['UNKNOWN', line('PROXY UNKNOWN'), null],
  ['UNKNOWN with more', line('PROXY UNKNOWN ff:ff:: what ever'), null],
  ['the longest line', line(`PROXY UNKNOWN ${'x'.repeat(91)}`), null],
  ['version 2, IPv4', v2(0x21, 0x11, ipv4), { ip: '192.0.2.7', port: 40000 }],
  ['version 2, IPv6', v2(0x21, 0x21, ipv6), { ip: '2001:db8::7', port: 40000 }],
  ['version 2 with TLVs', v2(0x21, 0x11, Buffer.concat([ipv4, tlv])), { ip: '192.0.2.7', port: 40000 }],
  ['LOCAL', v2(0x20, 0x00, Buffer.alloc(0)), null],
  ['LOCAL with addresses', v2(0x20, 0x11, ipv4), null],
  ['an unspecified family', v2(0x21, 0x00, tlv), null],
  [
    'the longest of version 2',
    v2(0x21, 0x11, Buffer.concat([ipv4, Buffer.alloc(4096 - 12)])),
    { ip: '192.0.2.7', port: 40000 },
  ],
];

describe('a PROXY header', () => {
  for (const [name, header, address] of good) {
    it(`${name} is read, split at every byte and with what follows`, () => {
      const bytes = Buffer.concat([header, Buffer.from('GET / HTTP/1.1\r\n')]);
      for (let length = 1; length < header.length; length++) {
        assert.equal(inspectProxyHeader(bytes.subarray(0, length)).kind, 'more', `${length} bytes`);
      }
      assert.ok(header.length <= maxProxyHeaderLength);
      for (const length of [header.length, bytes.length]) {
        const expected = { kind: 'done', consumed: header.length, value: address };
        assert.deepEqual(inspectProxyHeader(bytes.subarray(0, length)), expected);
      }
    });
  }
});

const hostile: readonly (readonly [string, Buffer])[] = [
  ['a request without one', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['a request whose method begins alike', Buffer.from('PROPFIND / HTTP/1.1\r\n\r\n')],
  ['a ClientHello', Buffer.from([0x16, 3, 1, 2, 0, 1])],
  ['lower case', line('proxy TCP4 192.0.2.7 10.0.0.1 1 2')],
  ['two spaces', line('PROXY TCP4  192.0.2.7 10.0.0.1 1 2')],
  ['a tab', line('PROXY\tTCP4 192.0.2.7 10.0.0.1 1 2')],
  ['a space at the end', line('PROXY TCP4 192.0.2.7 10.0.0.1 1 2 ')],
  ['a field too many', line('PROXY TCP4 192.0.2.7 10.0.0.1 1 2 3')],
  ['a field too few', line('PROXY TCP4 192.0.2.7 10.0.0.1 1')],
  ['an address of the other family', line('PROXY TCP4 ::1 ::1 1 2')],
  ['IPv4 as TCP6', line('PROXY TCP6 192.0.2.7 10.0.0.1 1 2')],
  ['a zone', line('PROXY TCP6 fe80::1%eth0 ::1 1 2')],
  ['brackets', line('PROXY TCP6 [::1] ::1 1 2')],
  ['leading zeros in the address', line('PROXY TCP4 192.0.02.7 10.0.0.1 1 2')],
  ['leading zeros in a port', line('PROXY TCP4 192.0.2.7 10.0.0.1 01 2')],
  ['a port that is too large', line('PROXY TCP4 192.0.2.7 10.0.0.1 1 65536')],
  ['a signed port', line('PROXY TCP4 192.0.2.7 10.0.0.1 +1 2')],
  ['an unknown family', line('PROXY UDP4 192.0.2.7 10.0.0.1 1 2')],
  ['a word that begins as UNKNOWN', line('PROXY UNKNOWNS')],
  ['a bare LF', Buffer.from('PROXY UNKNOWN\n')],
  ['a bare CR', Buffer.from('PROXY UNKNOWN a\rb\r\n')],
  ['a NUL', line('PROXY TCP4 192.0.2.7\0 10.0.0.1 1 2')],
  ['a line without an end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(93)}`)],
  ['a line that ends too late', line(`PROXY UNKNOWN ${'x'.repeat(92)}`)],
  ['a broken signature', Buffer.concat([signature.subarray(0, 11), Buffer.from([0x0b, 0x21, 0x11, 0, 12]), ipv4])],
  ['version 1 in the binary form', v2(0x11, 0x11, ipv4)],
  ['an unknown command', v2(0x22, 0x11, ipv4)],
  ['a unix socket', v2(0x21, 0x31, Buffer.alloc(216))],
  ['datagrams', v2(0x21, 0x12, ipv4)],
  ['an unknown family in the binary form', v2(0x21, 0x41, ipv4)],
  ['addresses that are cut', v2(0x21, 0x21, ipv4)],
  ['a length over the cap', v2(0x21, 0x11, ipv4, 4097)],
  ['a length over the cap of LOCAL', v2(0x20, 0x00, ipv4, 65535)],
];

describe('an invalid PROXY header', () => {
  for (const [name, bytes] of hostile) {
    it(`${name} is refused, whole and byte by byte`, () => {
      assert.equal(inspectProxyHeader(bytes).kind, 'bad');
      const kinds = Array.from(bytes, (_, at) => inspectProxyHeader(bytes.subarray(0, at + 1)).kind);
      assert.ok(!kinds.includes('done'));
      assert.equal(kinds.at(-1), 'bad');
    });
  }

  it('is rejected at the first byte that shows it', () => {
    assert.equal(inspectProxyHeader(Buffer.from('G')).kind, 'bad');
    assert.equal(inspectProxyHeader(Buffer.from('PO')).kind, 'bad');
    assert.equal(inspectProxyHeader(Buffer.from('\r\n\r\nG')).kind, 'bad');
  });
});

function line(text: string): Buffer {
  return Buffer.from(`${text}\r\n`, 'latin1');
}
