import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectCause } from './connect-cause.ts';

const cases: readonly (readonly [message: string, fields: object, cause: string])[] = [
  ['connect ECONNREFUSED 127.0.0.1:1', { code: 'ECONNREFUSED' }, 'connect ECONNREFUSED 127.0.0.1:1'],
  [
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    'self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
  ],
  [
    'C0A6:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../x.c:84:\n',
    { code: 'ERR_SSL_WRONG_VERSION_NUMBER', reason: 'wrong version number' },
    'TLS handshake failed: wrong version number (ERR_SSL_WRONG_VERSION_NUMBER); does this port speak TLS?',
  ],
  [
    'C0A6:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:../x.c:1:',
    { code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', reason: 'sslv3 alert handshake failure' },
    'TLS handshake failed: sslv3 alert handshake failure (ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE)',
  ],
  ['odd', {}, 'odd'],
];

for (const [message, fields, cause] of cases) {
  test(`${cause}`, () => assert.equal(connectCause(Object.assign(new Error(message), fields)), cause));
}
