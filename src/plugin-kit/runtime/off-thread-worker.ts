import { parentPort } from 'node:worker_threads';
import { resolveContractImports } from '../../shared/plugin-loader/resolve-contract.ts';
import type { OffThreadAnswer, OffThreadMessage } from './off-thread.ts';

/** The other end of `offThread`: carries out one call after the other. */

resolveContractImports();

parentPort?.on('message', ({ id, module, name, args }: OffThreadMessage) => {
  carryOut(module, name, args).then(
    (value) => answer({ id, value }),
    (error: unknown) => answer({ id, error: facts(error) }),
  );
});

async function carryOut(module: string, name: string, args: readonly unknown[]): Promise<unknown> {
  const { [name]: call }: Record<string, unknown> = await import(module);
  if (typeof call !== 'function') throw new TypeError(`${name} is no function of its module`);
  return call(...args);
}

function answer(message: OffThreadAnswer): void {
  try {
    parentPort?.postMessage(message);
  } catch (error) {
    parentPort?.postMessage({ id: message.id, error: facts(error) });
  }
}

function facts(error: unknown): { readonly name: string; readonly message: string; readonly fields: object } {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), fields: {} };
  return { name: error.name, message: error.message, fields: { ...error } };
}
