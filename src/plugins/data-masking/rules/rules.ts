import { compileRegex } from '../../../plugin-kit/runtime/index.ts';
import { kinds } from '../kinds/kinds.ts';
import { type Finder, matches, replaceSpans } from '../kinds/spans.ts';
import { type Action, actionOf, maskedWhole } from './actions.ts';
import type { RuleConfig } from './rule-schema.ts';

/** A compiled rule. */
export interface Rule {
  readonly config: RuleConfig;
  /** Masks matches of kinds and patterns; null: the rule replaces whole values. */
  readonly search: ((text: string) => string) | null;
  /** Masks a text at a place of the rule. */
  maskText(text: string): string;
  /** Masks another value at a place of the rule, given as text. */
  maskOther(text: string): string;
  /** Kinds and patterns are searched everywhere in bodies. */
  readonly inBodies: boolean;
  readonly inHeaders: boolean;
  readonly inQuery: boolean;
}

/** Throws an `Error` for an unsupported expression. */
export function compileRules(rules: readonly RuleConfig[], key: string | null): readonly Rule[] {
  return rules.map((config) => compileRule(config, key));
}

function compileRule(config: RuleConfig, key: string | null): Rule {
  const action = actionOf(config, key);
  const search = searchOf(config, action);
  const everywhere = new Set(search === null ? [] : (config.in ?? (namesPlaces(config) ? [] : ['body'])));
  return {
    config,
    search,
    // An empty value hides nothing.
    maskText: search ?? ((text) => (text === '' ? text : action(text))),
    maskOther: (text) => maskedWhole(config, action, text),
    inBodies: everywhere.has('body'),
    inHeaders: everywhere.has('headers'),
    inQuery: everywhere.has('query'),
  };
}

function namesPlaces({ json_paths, xml_paths, form_fields, query_arguments, headers }: RuleConfig): boolean {
  return [json_paths, xml_paths, form_fields, query_arguments, headers].some(
    (list) => list !== null && list.length > 0,
  );
}

function searchOf(config: RuleConfig, action: Action): ((text: string) => string) | null {
  const finders: Finder[] = [
    ...(config.kinds ?? []).map((kind) => kinds[kind]),
    ...(config.patterns ?? []).map((pattern) => patternFinder(pattern)),
  ];
  if (finders.length === 0) return null;
  return (text) => {
    let masked = text;
    for (const find of finders) masked = replaceSpans(masked, find(masked), action);
    return masked;
  };
}

function patternFinder(source: string): Finder {
  const pattern = compileRegex(source, 'g');
  if (pattern.test('')) throw new Error(`the pattern '${source}' matches the empty text`);
  return (text) => matches(text, pattern, () => true);
}
