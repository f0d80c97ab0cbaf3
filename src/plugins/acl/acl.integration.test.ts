import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Rig, startRig } from '../../../test/support/rig.ts';

/** Authenticates the consumer that the header `As` names. */
const impersonate = fileURLToPath(new URL('../../../test/support/plugins/impersonate.ts', import.meta.url));

describe('groups of consumers', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['acl', impersonate] } });
    for (const username of ['ada', 'bob']) await rig.write('PUT', `/consumers/${username}`, {});
    await rig.write('POST', '/plugins', { name: 'impersonate' });
    await rig.write('POST', '/services/backend/plugins', { name: 'acl', config: { allow: ['writers'] } });
  });
  after(() => rig.close());

  async function statusOf(consumer: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${rig.port}/`, { headers: { As: consumer } });
    await answer.text();
    return answer.status;
  }

  it('apply as soon as the Admin API has answered, for additions and deletions', async () => {
    assert.equal(await statusOf('ada'), 403);
    for (let turn = 0; turn < 3; turn++) {
      await rig.write('POST', '/consumers/ada/acls', { group: 'writers' });
      assert.equal(await statusOf('ada'), 200);
      assert.equal(await statusOf('bob'), 403);
      await rig.write('DELETE', '/consumers/ada/acls/writers');
      assert.equal(await statusOf('ada'), 403);
    }
  });

  it('are forwarded to the backend', async () => {
    await rig.write('PUT', '/consumers/ada/acls/readers', {});
    await rig.write('PUT', '/consumers/ada/acls/writers', {});
    assert.equal(await statusOf('ada'), 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-consumer-groups'), 'readers, writers');
    await rig.write('DELETE', '/consumers/ada/acls/readers');
    await rig.write('DELETE', '/consumers/ada/acls/writers');
  });

  it('are found below their consumer by name and by id', async () => {
    const made = await rig.write('PUT', '/consumers/ada/acls/writers', { tags: ['t'] });
    assert.equal(made['group'], 'writers');
    const { id } = made;
    const again = await rig.write('PUT', '/consumers/ada/acls/writers', {});
    assert.equal(again['id'], id);
    for (const segment of ['writers', String(id)]) {
      assert.equal((await rig.write('GET', `/consumers/ada/acls/${segment}`))['id'], id);
    }
    assert.equal((await rig.write('GET', `/acls/${id}`))['group'], 'writers');
    await rig.write('PATCH', '/consumers/ada/acls/writers', { group: 'editors' });
    assert.equal((await rig.gateway.admin('GET', '/consumers/ada/acls/writers')).status, 404);
    assert.equal((await rig.write('GET', '/consumers/ada/acls/editors'))['id'], id);
    assert.equal((await rig.gateway.admin('GET', '/consumers/bob/acls/editors')).status, 404);
    assert.equal((await rig.gateway.admin('DELETE', '/consumers/ada/acls/editors')).status, 204);
    assert.equal((await rig.gateway.admin('GET', '/consumers/ada/acls/editors')).status, 404);
  });

  it('are unique within a consumer', async () => {
    await rig.write('POST', '/consumers/ada/acls', { group: 'twice' });
    const twice = await rig.gateway.admin('POST', '/consumers/ada/acls', { group: 'twice' });
    assert.equal(twice.status, 409);
    await rig.write('POST', '/consumers/bob/acls', { group: 'twice' });
    await rig.write('DELETE', '/consumers/bob/acls/twice');
    await rig.write('DELETE', '/consumers/ada/acls/twice');
  });

  it('cannot be found by name without their consumer', async () => {
    const answer = await rig.gateway.admin('GET', '/acls/writers');
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.body['fields'], { id: 'expected a valid UUID' });
    const missing = await rig.gateway.admin('POST', '/consumers/ada/acls', {});
    assert.deepEqual(missing.body['fields'], { group: 'required field missing' });
  });

  it('are deleted with their consumer', async () => {
    await rig.write('PUT', '/consumers/eve', {});
    await rig.write('POST', '/consumers/eve/acls', { group: 'writers' });
    assert.equal(await statusOf('eve'), 200);
    await rig.write('DELETE', '/consumers/eve');
    assert.deepEqual((await rig.write('GET', '/acls'))['data'], []);
  });
});
