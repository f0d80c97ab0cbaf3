import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openHttp2, readAnswer } from '../../../test/support/http2-client.ts';
import { type Http2Rig, startHttp2Rig } from '../../../test/support/http2-rig.ts';
import { answerEach } from '../../../test/support/raw-backend.ts';

const chunked =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
  '10\r\n{"a":"planted1"}\r\n0\r\nX-Name: planted2\r\n\r\n';

describe('masking over HTTP/2', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({ script: answerEach(() => chunked), settings: { plugins: ['data-masking'] } });
    const rule = { name: 'all', json_paths: ['$.a'], headers: ['X-Name'], query_arguments: ['a'] };
    await rig.write('POST', '/plugins', { name: 'data-masking', config: { rules: [rule] } });
  });
  after(() => rig.close());

  it('bodies without a length in both directions, and trailers', async () => {
    await using client = await openHttp2(rig.port);
    const answer = await client.request('/?a=planted3', {
      headers: { ':method': 'POST', 'content-type': 'application/json', 'x-name': 'planted4', te: 'trailers' },
      body: '{"a":"planted5"}',
      trailers: { 'x-name': 'planted6' },
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.body.toString(), '{"a":"***"}');
    assert.equal(answer.trailers['x-name'], undefined);
    assert.equal(rig.backend.requests.at(-1)?.body, '{"a":"***"}');
    assert.doesNotMatch(rig.backend.received, /planted/);
  });

  it('a WebSocket is refused: it cannot be masked', async () => {
    await using client = await openHttp2(rig.port);
    const before = rig.backend.requests.length;
    const stream = client.open('/', {
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'http',
      ':authority': 'a',
    });
    const answer = await readAnswer(stream);
    assert.equal(answer.status, 400);
    assert.match(answer.body.toString(), /change their protocol/);
    assert.equal(rig.backend.requests.length, before);
  });
});
