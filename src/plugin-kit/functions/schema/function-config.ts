import type { SchemaNode } from '../../../plugin-sdk/define-plugin.ts';
import { array, type EntityCheck, record, string } from '../../../plugin-sdk/schema.ts';
import { functionPhaseNames, maxFunctionLength, maxFunctions, refusedPhaseNames } from '../phases.ts';
import { sandboxProblem, sourceProblem } from '../source.ts';

const descriptions = {
  certificate: 'Functions for TLS handshakes; global instances only, and only with `untrusted_lua = on`.',
  rewrite: 'Functions that run before routing; global instances only.',
  access: 'Functions that run after routing, before a backend is contacted.',
  header_filter: 'Functions that change the head of the response.',
  body_filter: 'Functions that change the body of the response, called for each piece of it.',
  log: 'Functions that run after the response was sent.',
} as const;

/** The configuration of `plugin`: Kong's fields, with JavaScript. */
export function functionConfig(plugin: string) {
  const functions = (phase: keyof typeof descriptions) =>
    array(
      string({
        len_max: maxFunctionLength,
        custom: (text: string) => prefixed(plugin, sourceProblem(text)),
        description: 'A JavaScript function of the context: `(context) => { ... }`.',
      }),
      { required: true, default: [], len_max: maxFunctions, description: descriptions[phase] },
    );
  const refused = () =>
    array(string({ description: 'A function.' }), {
      required: true,
      default: [],
      len_max: 0,
      err: 'functions cannot run for WebSocket frames',
      description: 'Must be empty: functions for WebSocket frames do not exist here.',
    });
  const [handshake, clientFrame, upstreamFrame, close] = refusedPhaseNames;
  return record({
    certificate: functions('certificate'),
    rewrite: functions('rewrite'),
    access: functions('access'),
    header_filter: functions('header_filter'),
    body_filter: functions('body_filter'),
    log: functions('log'),
    [handshake]: refused(),
    [clientFrame]: refused(),
    [upstreamFrame]: refused(),
    [close]: refused(),
  });
}

/** At least one function, and only those that the node allows. */
export function nodeChecksOfFunctions(plugin: string): (node: SchemaNode) => readonly EntityCheck[] {
  return ({ untrustedFunctions }) => [
    { at_least_one_of: functionPhaseNames.map((phase) => `config.${phase}`) },
    {
      custom_entity_check: {
        field_sources: ['config'],
        fn: ({ config }) => problemOnNode(plugin, untrustedFunctions, Object(config)),
      },
    },
  ];
}

function problemOnNode(
  plugin: string,
  mode: SchemaNode['untrustedFunctions'],
  config: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, string>> | null {
  const used = functionPhaseNames.filter((phase) => (config[phase]?.length ?? 0) > 0);
  if (used.length === 0 || mode === 'on') return null;
  if (mode === 'off') {
    return {
      config: `${plugin} is off: who can write its configuration can run code in the gateway; set untrusted_lua = sandbox (or on) to allow it`,
    };
  }
  if (used.includes('certificate')) {
    return { 'config.certificate': 'the sandbox has no certificate phase; it needs untrusted_lua = on' };
  }
  const found: Record<string, string> = {};
  for (const phase of used) {
    (config[phase] ?? []).forEach((text, at) => {
      const problem = prefixed(plugin, sandboxProblem(text));
      if (problem !== null) found[`config.${phase}.${at}`] = problem;
    });
  }
  return Object.keys(found).length === 0 ? null : found;
}

function prefixed(plugin: string, problem: string | null): string | null {
  return problem === null ? null : `error parsing ${plugin}: ${problem}`;
}
