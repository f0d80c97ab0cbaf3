import type { TypedPlugin } from '../../plugin-sdk/define-plugin.ts';
import { aborts } from './cases/aborts.ts';
import { backends } from './cases/backends.ts';
import { bodies } from './cases/bodies.ts';
import { concurrency } from './cases/concurrency.ts';
import { hostile } from './cases/hostile.ts';
import type { ContractOptions, RegisterTest } from './contract.ts';
import { openRig } from './open-rig.ts';

const cases = [...bodies, ...aborts, ...backends, ...hostile, ...concurrency];

/** The names of all cases, for `skip`. */
export const contractCases: readonly string[] = Object.freeze(cases.map(({ name }) => name));

/**
 * Registers tests that every plugin must pass: what clients, backends and edits of the config can do at any moment. In each of them:
 * no request is lost, no exception leaves the plugin, no rejection is unhandled, `log` runs once for each request, and each `setup`
 * has one `dispose`.
 *
 * @throws TypeError when `skip` names a case that does not exist.
 *
 * @example
 * import { test } from 'node:test';
 * import { pluginContract } from 'sluicegate/plugin-testing';
 * import hello from './index.ts';
 *
 * pluginContract(hello, { config: { banned: ['Bob'] } }, test);
 */
export function pluginContract<C>(plugin: TypedPlugin<C>, options: ContractOptions<C>, test: RegisterTest): void {
  const { skip = [] } = options;
  const unknown = skip.find((name) => !contractCases.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no case '${unknown}': ${contractCases.join(', ')}`);
  for (const { name, run } of cases) {
    if (skip.includes(name)) continue;
    test(`${plugin.name}: ${name}`, async () => {
      const rig = await openRig(plugin, options);
      let finished = false;
      try {
        await run(rig);
        finished = true;
      } finally {
        // What the case has found is what counts.
        if (finished) await rig.finish();
        else await rig.finish().catch(() => {});
      }
    });
  }
}
