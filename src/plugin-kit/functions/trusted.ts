import { createRequire, isBuiltin } from 'node:module';
import { compileFunction } from 'node:vm';
import { contextKey } from '../../plugin-sdk/contexts.ts';
import { refuse, reply, replyJson } from '../../plugin-sdk/reply.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import { resolveContractImports } from '../../shared/plugin-loader/resolve-contract.ts';
import { encode } from './encode.ts';
import type { CompiledFunction, FunctionHost } from './function-host.ts';
import { namedError } from './named-error.ts';
import { functionName } from './phases.ts';
import { asExpression } from './source.ts';

/** Functions in the gateway's own realm, with all that a plugin can do: `untrusted_lua = on`. */
export function trustedHost(plugin: string, tools: PluginTools): FunctionHost {
  const scope: Readonly<Record<string, unknown>> = {
    refuse,
    reply,
    replyJson,
    contextKey,
    encode,
    log: tools.log,
    count: tools.count,
    require: requireOf(),
  };
  return {
    compile(phase, index, text) {
      const name = functionName(plugin, phase, index);
      const { before, code } = asExpression(text);
      // The expression becomes what a function returns, so that the names of the scope are its parameters.
      const start = before.replace(';(', ';return (');
      const make = compileFunction(start + code.slice(before.length), Object.keys(scope), {
        filename: name,
        columnOffset: -start.length,
      });
      let made: unknown;
      try {
        made = make(...Object.values(scope));
      } catch (error) {
        throw namedError(name, error);
      }
      if (typeof made !== 'function') throw new TypeError(`${name} is not a function but ${typeof made}`);
      return made as CompiledFunction;
    },
  };
}

/** `require` of functions: modules of Node, and what the package exports to plugins. */
function requireOf(): (name: string) => unknown {
  const load = createRequire(import.meta.url);
  return function require(name: string): unknown {
    if (!isBuiltin(name) && !/^sluicegate\/plugin-(?:sdk|kit)(?:\/|$)/.test(name)) {
      throw new Error(
        `require('${name}'): functions can load modules of Node (node:crypto) and sluicegate/plugin-kit/*`,
      );
    }
    resolveContractImports();
    return load(name);
  };
}
