import { describeRefusals } from '../support/refusals.ts';

/** Case 3: HTTP/1.0 knows no transfer coding; a proxy that honours it can be desynchronised (CVE-2026-2835). */
function message(lines: string, method = 'POST'): string {
  return `${method} /old HTTP/1.0\r\nHost: example.com\r\n${lines}\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`;
}

describeRefusals(
  'Transfer-Encoding on HTTP/1.0',
  {
    chunked: message('Transfer-Encoding: chunked\r\n'),
    'chunked with keep-alive': message('Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n'),
    'chunked with a length': message('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'),
    identity: message('Transfer-Encoding: identity\r\n'),
    'chunked on a GET': message('Transfer-Encoding: chunked\r\n', 'GET'),
  },
  [400, 501],
);
