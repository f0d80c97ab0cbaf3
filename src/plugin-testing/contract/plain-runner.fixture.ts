/** Runs the suite over plugins with planted mistakes, without any test runner, and prints which cases have failed. */
import { pluginContract } from '../index.ts';
import { planted } from './planted-plugins.fixture.ts';

const failed: Record<string, string[]> = {};
for (const [name, { plugin }] of Object.entries(planted)) {
  const tests: (readonly [string, () => Promise<void>])[] = [];
  pluginContract(plugin, {}, (title, body) => tests.push([title.replace('probe: ', ''), body]));
  const mine: string[] = [];
  failed[name] = mine;
  for (const [title, body] of tests) await body().catch(() => mine.push(title));
}
process.stdout.write(JSON.stringify(failed));
