import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomOf } from '../../../../../test/support/random.ts';
import type { Row } from '../../../../shared/entities/entity.ts';
import { foreignId } from '../../../../shared/entities/row-fields.ts';
import type { ConfigRows } from '../../contract.ts';
import { bundledRegistry, declare, now } from '../../declarative.fixture.ts';
import { keyOf } from '../current-rows.ts';
import { keepLastGood } from '../keep-last-good.ts';

/*
 * Random configs in which routes have an authentication on themselves, on their service or for all, some entities are broken, and random
 * configs lived before. Whatever goes live, each route that was changed is as protected as the document wants it.
 */

function configOf(random: Random, faults: boolean): Record<string, unknown> {
  const broken = () => faults && random(6) === 0;
  const auth = () => ({ name: random(2) === 0 ? 'key-auth' : 'basic-auth', ...(broken() && { config: { nope: 1 } }) });
  const services = Array.from({ length: 1 + random(4) }, (_, index) => ({
    name: `s${index}`,
    host: `h${random(3)}.test`,
    ...(broken() && { port: 99999 }),
    ...(random(3) === 0 && { plugins: [auth()] }),
    routes: Array.from({ length: random(3) }, (_, at) => ({
      name: `r${index}${at}${random(2)}`,
      paths: [['/', '/a', '/a/b', '/c', '~/a/\\d'][random(5)], ...(broken() ? ['bad'] : [])],
      ...(random(3) === 0 && { plugins: [auth()] }),
    })),
  }));
  return { services, ...(random(4) === 0 && { plugins: [auth()] }) };
}

/** Ids of the plugins that run for a route. */
function pluginsOf(rows: ConfigRows, route: Row): readonly string[] {
  return (rows['plugins'] ?? [])
    .filter((plugin) => {
      const [ofRoute, ofService] = [foreignId(plugin, 'route'), foreignId(plugin, 'service')];
      return (
        (ofRoute === null || ofRoute === route.id) && (ofService === null || ofService === foreignId(route, 'service'))
      );
    })
    .map((plugin) => String(plugin['name']));
}

test('nothing that goes live is less protected than the document or the config before wants it', async () => {
  const entities = await bundledRegistry();
  let partial = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomOf(seed);
    const before = (await declare(configOf(random, false))).rows;
    const current = random(3) === 0 ? {} : before;
    const config = configOf(random, true);
    const declared = await declare(config, { current, now: now + 1000 });
    const { rows } = keepLastGood(declared, current, entities);
    const isWhole = declared.problems.length === 0;
    if (!isWhole && (rows['routes'] ?? []).some((row) => !(current['routes'] ?? []).includes(row))) partial++;

    // What the document wants, as if nothing in it were broken.
    const repaired = JSON.parse(
      JSON.stringify(config)
        .replaceAll(',"bad"', '')
        .replaceAll(',"config":{"nope":1}', '')
        .replaceAll(',"port":99999', ''),
    ) as Record<string, unknown>;
    const wanted = (await declare(repaired, { current, now: now + 1000 })).rows;
    for (const route of rows['routes'] ?? []) {
      const live = pluginsOf(rows, route);
      const old = current['routes']?.find(({ id }) => id === route.id);
      const next = wanted['routes']?.find(({ id }) => id === route.id);
      const isSafe = [
        next === undefined ? null : pluginsOf(wanted, next),
        // It stays as it was.
        old === route ? pluginsOf(current, old) : null,
      ].some((names) => names?.every((name) => live.includes(name)) === true);
      assert.ok(isSafe, `seed ${seed}: ${JSON.stringify(route)} has ${live.join()}\n${JSON.stringify(config)}`);
    }
    checkConsistent(rows, seed);
  }
  assert.ok(partial > 20, `${partial} configs went live in part`);

  function checkConsistent(rows: ConfigRows, seed: number): void {
    for (const { name, inConfig, foreign, unique, uniqueTogether } of entities.definitions) {
      if (!inConfig) continue;
      const list = rows[name] ?? [];
      for (const field of Object.keys(foreign)) {
        const parents = new Set(rows[foreign[field]?.entity ?? '']?.map(({ id }) => id));
        for (const row of list) {
          const id = foreignId(row, field);
          assert.ok(id === null || parents.has(id), `seed ${seed}: ${name} ${field}`);
        }
      }
      for (const fields of [['id'], ...unique.map((field) => [field]), ...uniqueTogether]) {
        const keys = list.flatMap((row) => keyOf(fields, row) ?? []);
        assert.equal(new Set(keys).size, keys.length, `seed ${seed}: ${name} ${fields.join()}`);
      }
    }
  }
});
