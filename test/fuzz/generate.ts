import type { Random } from './random.ts';

/** Near-valid HTTP/1.1 messages: mostly correct parts, some malformed parts, some mutated bytes. */

const methods = ['GET', 'POST', 'PUT', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND'];
const targets = ['/', '/a', '/a/b?c=d', '/%2e%2e/x', '/?', '/a;b', '/a:b@c', '/caf\xe9', "/!$&'()*+,;=", '/a//b'];
const oddTargets = [
  '*',
  'http://h/',
  'http://h',
  'http://h/p?q',
  'http://other/',
  'h:80',
  '',
  'a',
  '/a b',
  '/a\tb',
  '/#f',
  '/\x00',
  '/\x7f',
  'HTTP/1.1',
  '/"<>\\^`{|}',
  '//h/x',
  '?x',
];
const oddVersions = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'HTTP/1.1 ',
  'HTTP/1.10',
  'HTTP/1',
  'HTTP/11',
  '',
  'HTTP /1.1',
  'HTTP/1,1',
  'ICE/1.0',
  'RTSP/1.0',
];
const oddEnds = ['\n', '\r', '\r\r\n', '\r\n ', '\r\n\t', '', '\n\r', '\r\n\r', '\x0b\r\n'];
const names = ['X-A', 'Accept', 'X_B', 'Cookie', 'x-c', 'A', "X!#$%&'*+.^`|~", 'Via', 'User-Agent', 'Content-Type'];
const values = ['a', 'a b', 'a\tb', '', 'caf\xe9', '"q, r"', 'a, b', 'x'.repeat(200), '(c)', '\x80'];
const oddNames = ['', 'X A', 'X\tA', 'X-\x00', 'X-\xe9', 'X(', 'X@', ' X', '\tX', 'X/', 'X[', 'X{', 'X"', 'X\x7f'];
const oddValues = ['a\x00b', 'a\x01b', 'a\x7fb', 'a\rb', 'a\nb', 'a\r\n b', 'a\x0bb', 'a\x0cb', '\x1f'];
const lengths = ['0', '3', '5', '05', '10', '000'];
const oddLengths = [
  '',
  '+5',
  '-5',
  '5 ',
  ' 5',
  '  5',
  '5\t',
  '\t5',
  '5,5',
  '5, 6',
  '0x5',
  '5a',
  '5.0',
  '99999999999999999999',
  '18446744073709551621',
  '5;',
  '"5"',
  '1_0',
  '\xa05',
  '5\xa0',
  '5\x0b',
  'a',
];
const codings = ['chunked', 'Chunked', 'CHUNKED'];
const oddCodings = [
  'identity',
  'gzip, chunked',
  'chunked, identity',
  'chunked, chunked',
  'xchunked',
  ' chunked',
  '\tchunked',
  'chunked ',
  'chunked\x0b',
  'chunked\x00',
  '',
  'gzip',
  'chunked,',
  ',chunked',
  'chunked;a=b',
  'chunke',
  'chunkedd',
  '\xa0chunked',
  '"chunked"',
  'cHuNkEd, ',
];
const lengthNames = [
  'Content-Length',
  'content-length',
  'CONTENT-LENGTH',
  'Content_Length',
  'Content-Length ',
  ' Content-Length',
  'Content-Lengt',
  'Content-Length\x00',
];
const codingNames = [
  'Transfer-Encoding',
  'transfer-encoding',
  'Transfer_Encoding',
  'Transfer-Encoding ',
  '\tTransfer-Encoding',
  'Transfer-Encodin',
];
const hosts = ['h', 'h:80', '127.0.0.1', '[::1]:80', 'a.b'];
const oddHosts = ['', 'a,b', 'u@h', 'h/p', 'h h', 'h\x00', 'h?', '[', 'h:x', '\xa0h', 'h\xa0', 'http://h'];
const connections = [
  'keep-alive',
  'close',
  'Keep-Alive',
  'close, keep-alive',
  'X-A',
  'upgrade',
  'close\x00',
  ', close,',
  'keep-alive, X-A',
];

export function generateRequests(random: Random): string {
  let bytes = '';
  for (let left = 1 + random.int(3); left > 0; left--) bytes += mutate(random, generateRequest(random), 24);
  return bytes;
}

function generateRequest(random: Random): string {
  const target = random.once(8) ? random.pick(oddTargets) : random.pick(targets);
  const version = random.once(12) ? random.pick(oddVersions) : 'HTTP/1.1';
  const method = random.once(30) ? mutate(random, random.pick(methods), 2) : random.pick(methods);
  const space = random.once(40) ? random.pick(['  ', '\t', '', '\x0b']) : ' ';
  const head = `${random.once(30) ? random.pick(['\r\n', '\n', '\r', ' ', '\r\n\r\n']) : ''}${method}${space}${target} ${version}${end(random, 40)}`;
  const lines: string[] = [];
  if (!random.once(15)) lines.push(`Host: ${random.once(12) ? random.pick(oddHosts) : random.pick(hosts)}`);
  if (random.once(25)) lines.push('Host: h');
  if (random.once(6)) lines.push(`Connection: ${random.pick(connections)}`);
  if (random.once(25))
    lines.push(`Expect: ${random.pick(['100-continue', '100-Continue', 'x', '', '100-continue, x'])}`);
  if (random.once(30)) lines.push(`Upgrade: ${random.pick(['websocket', 'h2c', 'TLS/1.2'])}`);
  return finish(random, head, lines);
}

export function generateResponse(random: Random): string {
  let bytes = '';
  if (random.once(10))
    bytes += `HTTP/1.1 ${random.pick(['100 Continue', '102 P', '103 Early Hints', '199 x'])}\r\nX-A: b\r\n\r\n`;
  const status = random.once(6)
    ? random.pick([
        '204 No',
        '304 Not',
        '200',
        '200 ',
        '404 \xe9',
        '999 x',
        '000 x',
        '099 x',
        '20 x',
        '2000 x',
        '2x0 x',
        '-20 x',
        ' 200 x',
        '200\tx',
        '600 x',
        '200  two',
        '200 a\x00',
        '200 a\rb',
      ])
    : '200 OK';
  const version = random.once(12) ? random.pick(oddVersions) : 'HTTP/1.1';
  const lines: string[] = [];
  if (random.once(6)) lines.push(`Connection: ${random.pick(connections)}`);
  if (random.once(8)) lines.push(`Set-Cookie: a=b; Path=/`);
  return mutate(random, bytes + finish(random, `${version} ${status}${end(random, 40)}`, lines), 24);
}

/** Adds framing, other header lines and the body after the first line. */
function finish(random: Random, firstLine: string, lines: string[]): string {
  let body = '';
  const framing = random.int(10);
  if (framing < 3) {
    const value = random.once(5) ? random.pick(oddLengths) : random.pick(lengths);
    lines.push(`${random.once(8) ? random.pick(lengthNames) : 'Content-Length'}:${random.once(10) ? '' : ' '}${value}`);
    body = '0123456789'.slice(0, Number.parseInt(value, 10) || 0);
  } else if (framing < 7) {
    const value = random.once(5) ? random.pick(oddCodings) : random.pick(codings);
    lines.push(
      `${random.once(8) ? random.pick(codingNames) : 'Transfer-Encoding'}:${random.once(10) ? '' : ' '}${value}`,
    );
    body = generateChunks(random);
  }
  if (random.once(25)) lines.push(`Content-Length: ${random.pick(lengths)}`);
  if (random.once(25)) lines.push(`Transfer-Encoding: ${random.pick(codings)}`);
  for (let left = random.int(4); left > 0; left--) lines.push(line(random));
  for (let left = lines.length; left > 1; left--) {
    const other = random.int(left);
    [lines[left - 1], lines[other]] = [lines[other] as string, lines[left - 1] as string];
  }
  let head = firstLine;
  for (const text of lines) head += text + end(random, 60);
  return `${head}${end(random, 40)}${body}`;
}

function line(random: Random): string {
  const name = random.once(15) ? random.pick(oddNames) : random.pick(names);
  const value = random.once(15) ? random.pick(oddValues) : random.pick(values);
  const colon = random.once(30) ? random.pick([' :', '', '::', '\t:', '=']) : ':';
  return `${name}${colon}${random.pick([' ', '', '  ', '\t', ' \t '])}${value}${random.once(8) ? ' ' : ''}`;
}

/** A chunked body, near-valid. */
export function generateChunks(random: Random): string {
  let body = '';
  for (let left = random.int(4); left > 0; left--) {
    const size = 1 + random.int(random.once(4) ? 40 : 12);
    const digits = random.once(10)
      ? random.pick([
          '0x',
          '+',
          '-',
          ' ',
          '0'.repeat(15),
          '0'.repeat(17),
          'f'.repeat(16),
          '_',
          '8000000000000000',
          '1'.repeat(14),
        ]) + size.toString(16)
      : random.pick([size.toString(16), size.toString(16).toUpperCase(), `0${size.toString(16)}`]);
    const extension = random.once(6)
      ? random.pick([
          ';a',
          ';a=b',
          ';a="b;c"',
          ';',
          '; a = b',
          ' ;a',
          ' ',
          '\t',
          ';a\x00',
          ';\x7f',
          ';a="\\""',
          ';a="',
          ';é\xe9',
          '; ',
          ';a=b;c=d',
          ';;',
          ';=',
          ';a,b',
        ])
      : '';
    const data = Array.from({ length: size }, () =>
      random.once(6) ? random.byte() : random.pick(['a', '0', '\r', '\n']),
    ).join('');
    body += `${digits}${extension}${end(random, 40)}${random.once(30) ? data.slice(1) : data}${end(random, 40)}`;
  }
  body += `${random.once(25) ? random.pick(['00', '-0', '0 ', '', '0x0', '0;a']) : '0'}${end(random, 40)}`;
  if (random.once(5)) for (let left = 1 + random.int(2); left > 0; left--) body += `${line(random)}${end(random, 40)}`;
  return random.once(20) ? body : body + end(random, 40);
}

function end(random: Random, times: number): string {
  return random.once(times) ? random.pick(oddEnds) : '\r\n';
}

/** Once in `times` calls: one byte removed, doubled or replaced, or two swapped. */
function mutate(random: Random, text: string, times: number): string {
  if (text === '' || !random.once(times)) return text;
  const at = random.int(text.length);
  const before = text.slice(0, at);
  const after = text.slice(at + 1);
  const byte = text[at] as string;
  switch (random.int(5)) {
    case 0:
      return before + after;
    case 1:
      return before + byte + byte + after;
    case 2:
      return before + random.byte() + after;
    case 3:
      return (
        before + random.pick(['\r', '\n', '\0', ' ', '\t', ':', '0', ';', ',', '\x0b', '\x85', '\xa0']) + byte + after
      );
    default:
      return before + (after[0] ?? '') + byte + after.slice(1);
  }
}
