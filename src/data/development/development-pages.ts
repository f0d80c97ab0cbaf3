import type { AccessContext, BaseContext, RewriteContext } from '../../plugin-sdk/contexts.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import { type Reply, refuse, reply } from '../../plugin-sdk/reply.ts';
import { type CodeFailure, type CodeProblem, problemOf } from '../../shared/development/code-problem.ts';
import type { DevelopmentBoot } from '../../shared/development/development-boot.ts';
import { isLocalHost } from '../../shared/development/local-host.ts';
import { problemPage } from '../../shared/development/problem-page.ts';
import { errors } from '../../shared/errors.ts';

/** What clients of `sluicegate dev` see instead of a 500 without details. A gateway in production has no object of this kind. */
export class DevelopmentPages {
  readonly #root: string;
  readonly #details: boolean;
  #problems: ReadonlyMap<string, CodeProblem>;

  constructor({ root, details, problems }: DevelopmentBoot) {
    this.#root = root;
    this.#details = details;
    this.#problems = byPlugin(problems);
  }

  /** The plugins whose newest code cannot be used, from now on. */
  update(problems: readonly CodeProblem[]): void {
    this.#problems = byPlugin(problems);
  }

  /** Phases that answer with the problem of the plugin while it has one. Requests in flight finish with the code that they began with. */
  guarded(plugin: string, phases: PluginPhases): PluginPhases {
    const own = bound(phases);
    const answered = new WeakSet<BaseContext>();
    const page = (context: AccessContext | RewriteContext): Reply | null => {
      const problem = this.#problems.get(plugin);
      if (problem === undefined) return null;
      answered.add(context);
      return this.#reply(problem, askerOf(context));
    };
    const { rewrite, headerFilter, bodyFilter, log } = own;
    return {
      ...own,
      ...(rewrite && { rewrite: (context) => (page(context) ?? rewrite(context)) as Reply }),
      access: (context) => page(context) ?? own.access?.(context),
      ...(headerFilter && {
        headerFilter: (context) => (answered.has(context) ? undefined : headerFilter(context)),
      }),
      ...(bodyFilter && { bodyFilter: (context) => (answered.has(context) ? null : bodyFilter(context)) }),
      ...(log && { log: (context) => (answered.has(context) ? undefined : log(context)) }),
    };
  }

  /** The answer to a request in which a plugin has failed. */
  failed(failure: CodeFailure, error: unknown, asker: Asker): Reply {
    return this.#reply(problemOf(failure, error, this.#root), asker);
  }

  #reply(problem: CodeProblem, { accept, host }: Asker): Reply {
    if (!this.#details || !isLocalHost(host)) return refuse(errors.unexpected.status, errors.unexpected.message);
    return reply({ status: errors.unexpected.status, ...problemPage(problem, accept) });
  }
}

/** What decides who sees what of a problem. */
export interface Asker {
  /** The client's `Accept`; null: none. */
  readonly accept: string | null;
  /** As the client sent it; '': none. */
  readonly host: string;
}

function askerOf({ request }: BaseContext): Asker {
  return { accept: request.header('accept'), host: request.host };
}

function byPlugin(problems: readonly CodeProblem[]): ReadonlyMap<string, CodeProblem> {
  return new Map(problems.map((problem) => [problem.plugin, problem]));
}

const names = [
  'certificate',
  'rewrite',
  'access',
  'accessSkipped',
  'backendAnswer',
  'backendFailure',
  'shouldBufferResponse',
  'response',
  'headerFilter',
  'bodyFilter',
  'log',
  'logMask',
  'accept',
  'streamLog',
  'drain',
  'dispose',
] as const satisfies readonly (keyof PluginPhases)[];

/** A plugin may return an object of a class: its methods are not its own properties, and need their `this`. */
function bound(phases: PluginPhases): PluginPhases {
  const found = names.flatMap((name) => {
    const phase: unknown = phases[name];
    if (phase === undefined) return [];
    return [[name, typeof phase === 'function' ? phase.bind(phases) : phase] as const];
  });
  return Object.fromEntries(found);
}
