import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { answer } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';

describe('a request that is sent again', () => {
  it('has its complete body when the client keeps sending meanwhile', async () => {
    const second = Promise.withResolvers<void>();
    await using rig = await startRig({
      script: async (connection) => {
        if (connection.serial === 0) {
          await connection.readRequestHead();
          await connection.reader.readSome();
          connection.reset();
          return;
        }
        second.resolve();
        const request = await connection.readRequest();
        connection.write(answer(String(request.body.length)));
      },
      service: { retries: 3 },
    });
    const size = 1_000_000;
    const body = 'x'.repeat(size);
    using client = await openClient(rig.port);
    client.write(`PUT /upload HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${size}\r\n\r\n${body.slice(0, 100)}`);
    await second.promise;
    client.write(body.slice(100));
    const response = await client.readResponse();
    assert.equal(response.body, String(size));
  });
});
