import type { MessageKind } from '../stricter.ts';

/** Bytes on which the two parsers once disagreed, or nearly did, and why. */
export interface RegressionCase {
  readonly name: string;
  readonly kind: MessageKind;
  readonly bytes: string;
  /** How the gateway must treat the first message. */
  readonly expected: 'accepted' | 'refused';
}

const chunkedRequest = 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunkedResponse = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

export const regressionCases: readonly RegressionCase[] = [
  {
    name: 'Content_Length is not a framing field for other parsers',
    kind: 'request',
    bytes: 'GET / HTTP/1.1\r\nHost: h\r\nContent_Length: 3\r\n\r\n012',
    expected: 'refused',
  },
  {
    name: 'Transfer_Encoding is not a framing field for other parsers',
    kind: 'request',
    bytes: 'POST / HTTP/1.1\r\nHost: h\r\nTransfer_Encoding: chunked\r\n\r\n0\r\n\r\n',
    expected: 'refused',
  },
  {
    name: 'a chunk extension without a name',
    kind: 'request',
    bytes: `${chunkedRequest}5;\r\nhello\r\n0\r\n\r\n`,
    expected: 'refused',
  },
  {
    name: 'a blank before the name of a chunk extension',
    kind: 'request',
    bytes: `${chunkedRequest}5; a\r\nhello\r\n0\r\n\r\n`,
    expected: 'accepted',
  },
  {
    name: 'a chunk extension with a quote that does not end',
    kind: 'request',
    bytes: `${chunkedRequest}5;a="\r\nhello\r\n0\r\n\r\n`,
    expected: 'refused',
  },
  {
    name: 'a chunk extension named in another script',
    kind: 'response',
    bytes: `${chunkedResponse}5;\xe9\r\nhello\r\n0\r\n\r\n`,
    expected: 'refused',
  },
  {
    name: 'chunk extensions as the RFC writes them',
    kind: 'response',
    bytes: `${chunkedResponse}5;a;b=c;d="e;\\"f"\r\nhello\r\n0;last\r\n\r\n`,
    expected: 'accepted',
  },
  {
    name: 'a no-break space behind a Host is part of it',
    kind: 'request',
    bytes: 'GET / HTTP/1.1\r\nHost: h\xa0\r\n\r\n',
    expected: 'refused',
  },
  {
    name: 'a vertical tab behind a length',
    kind: 'request',
    bytes: 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\x0b\r\n\r\na',
    expected: 'refused',
  },
];
