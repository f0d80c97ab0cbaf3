import { fileURLToPath } from 'node:url';
import type { LoadedConfig } from '../../control/declarative/db-less/declarative-config.ts';
import type { ReloadOutcome } from '../../control/plugin-reload/reload-outcome.ts';
import type { TrafficFilter } from '../../control/traffic/traffic-filter.ts';
import type { CodeProblem } from '../../shared/development/code-problem.ts';
import { originOf } from '../../shared/plugin-loader/plugin-origin.ts';
import type { TrafficEntry } from '../../shared/traffic/traffic-record.ts';
import type { ListeningNode } from '../listen-node.ts';
import type { ShownProblems } from './shown-problems.ts';

/** What `sluicegate dev` does with a running node. */
export interface NodeDevelopment {
  /** Plugins that do not come with the gateway. */
  readonly plugins: () => readonly UserPlugin[];
  /** Files of the code that runs; absolute. */
  readonly codeFiles: () => readonly string[];
  /** Uses the code that is in the files now, in all workers at once. One call at a time. */
  readonly reload: () => Promise<ReloadOutcome>;
  /** Requests in the scope of these plugins are answered with their problems; empty: none. */
  readonly show: (problems: readonly CodeProblem[]) => void;
  /** Replaces the config by a declarative document; resolves when the workers have it. */
  readonly load: (document: string) => Promise<LoadedConfig>;
  /** Calls `ended` for each request, and `left` with the number of those that were too many, until the returned function is called. */
  readonly follow: (ended: (entry: TrafficEntry) => void, left: (requests: number) => void) => () => void;
}

export interface UserPlugin {
  readonly name: string;
  /** The module that the setting names; absolute. */
  readonly file: string;
}

const everything: TrafficFilter = {
  ...{ routes: [], services: [], consumers: [], statuses: [], methods: [], paths: [] },
  ...{ clients: null, since: null, until: null, minDuration: 0 },
};

export function nodeDevelopment(
  { data, supervisor, traffic, declarative, pluginReload, pluginCode }: ListeningNode,
  shown: ShownProblems,
): NodeDevelopment {
  return {
    plugins: () =>
      [...data.plugins.values()].flatMap((plugin) => {
        const file = originOf(plugin);
        return file === null ? [] : [{ name: plugin.name, file }];
      }),
    codeFiles: () => pluginCode.codes.flatMap(({ modules }) => [...modules.keys()].map((url) => fileURLToPath(url))),
    reload: () => pluginReload.run({ observe: 0 }),
    show: (problems) => {
      shown.set(problems);
      supervisor.broadcast({ type: 'development', problems });
    },
    load: async (document) => {
      if (declarative === null) throw new Error('the node has a database');
      return await declarative.loader.loadInTurn(document, async (writer) => {
        writer.attribute({ actor: '', action: 'apply', note: 'sluicegate dev' });
      });
    },
    follow: (ended, left) =>
      traffic?.tail(everything, 0, {
        record: (text) => ended(JSON.parse(text) as TrafficEntry),
        rate: ({ seen, sampled }) => {
          if (seen > sampled) left(seen - sampled);
        },
      }) ?? (() => undefined),
  };
}
