import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { byName } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

describe('the access log', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      script: byName({
        silent: () => {},
        broken: (connection) => {
          connection.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort');
          connection.end();
        },
      }),
    });
  });
  after(() => rig.close());

  /** The status and the bytes of each line about a path, once one exists. */
  async function linesOf(path: string): Promise<readonly string[]> {
    for (let turn = 0; turn < 400; turn++) {
      const log = await readFile(join(rig.gateway.prefix, 'access.log'), 'utf8').catch(() => '');
      const lines = log.split('\n').filter((line) => line.includes(` ${path} `));
      if (lines.length > 0) return lines.map((line) => /" (\d+ \d+) "/.exec(line)?.[1] ?? line);
      await delay(10);
    }
    throw new Error(`no line about ${path}`);
  }

  it('logs 499 when the client disconnects before the answer', async () => {
    using client = await openClient(rig.port);
    client.write('GET /silent?a HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await rig.backend.request(({ target }) => target === '/silent?a');
    client.reset();
    assert.deepEqual(await linesOf('/silent?a'), ['499 0']);
  });

  it('logs one line for a request with a broken body, with the status that the client received', async () => {
    using client = await openClient(rig.port);
    client.write('POST /silent?b HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n');
    assert.match((await client.readToEnd()).text, /^HTTP\/1\.1 400 /);
    assert.deepEqual(await linesOf('/silent?b'), ['400 0']);
    const log = await readFile(join(rig.gateway.prefix, 'access.log'), 'utf8');
    assert.equal(log.split('\n').filter((line) => line.includes(' 400 ')).length, 1);
  });

  it('logs the bytes sent of a transfer that broke', async () => {
    using client = await openClient(rig.port);
    client.write('GET /broken HTTP/1.1\r\nHost: a.test\r\n\r\n');
    assert.equal((await client.readToEnd()).kind, 'reset');
    assert.deepEqual(await linesOf('/broken'), ['200 5']);
  });
});
