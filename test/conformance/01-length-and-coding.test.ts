import { describeRefusals, type Refusals } from '../support/refusals.ts';

/** Case 1: parsers disagree about a message with both framings, and no reading is right. */
const names = [
  ['Content-Length', 'Transfer-Encoding'],
  ['content-length', 'transfer-encoding'],
  ['CONTENT-LENGTH', 'TRANSFER-ENCODING'],
  ['cOnTeNt-LeNgTh', 'tRaNsFeR-eNcOdInG'],
] as const;
const codings = ['chunked', 'CHUNKED', 'identity', 'gzip'] as const;
const smuggled = '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: example.com\r\n\r\n';

const cases: Record<string, string> = {};
for (const [length, transfer] of names) {
  for (const coding of codings) {
    const both = [`${length}: ${smuggled.length}\r\n`, `${transfer}: ${coding}\r\n`];
    cases[`${length} before ${transfer}: ${coding}`] = message(both.join(''));
    cases[`${transfer}: ${coding} before ${length}`] = message(both.reverse().join(''));
  }
}
cases['both, with other lines between them'] = message(
  'Content-Length: 5\r\nX-One: 1\r\nX-Two: 2\r\nTransfer-Encoding: chunked\r\n',
);
cases['a length of 0 with chunked'] = message('Content-Length: 0\r\nTransfer-Encoding: chunked\r\n');
cases['both on a GET'] = message('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', 'GET');

function message(lines: string, method = 'POST'): string {
  return `${method} /both HTTP/1.1\r\nHost: example.com\r\n${lines}\r\n${smuggled}`;
}

describeRefusals('Content-Length and Transfer-Encoding together', cases satisfies Refusals, [400, 501]);
