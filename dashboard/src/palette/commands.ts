import type { Caller, NodeInfo, SchemaList } from '../api/queries.ts';
import { allCollections, collectionsOf, writeProblem } from '../config/collections.ts';
import { pages } from '../layout/pages.ts';
import { applyTheme, type Theme } from '../layout/theme.ts';
import { signOut } from '../session/session.ts';
import { requestPalette } from './palette-request.ts';
import type { FoundEntity } from './search-query.ts';

/** Where a command leads. */
export interface Place {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

/** One line of the palette. */
export interface Command {
  readonly id: string;
  readonly title: string;
  /** On the right. */
  readonly note: string;
  readonly act: Place | (() => void);
}

export interface CommandGroup {
  readonly value: string;
  readonly items: readonly Command[];
}

interface Known {
  readonly schemas: SchemaList;
  readonly caller: Caller;
  readonly node: NodeInfo;
}

export function pageCommands({ schemas }: Known): readonly Command[] {
  return [
    ...pages.map(({ to, title }) => ({ id: `page ${to}`, title, note: 'Page', act: { to } })),
    ...collectionsOf(schemas).map(({ info, title }) => {
      return { id: `list ${info.name}`, title, note: 'List', act: { to: `/config/${info.name}` } };
    }),
  ];
}

const themes: Readonly<Record<Theme, string>> = {
  light: 'Use the light theme',
  dark: 'Use the dark theme',
  system: 'Use the theme of the system',
};

/** What the caller may do from anywhere. */
export function actionCommands({ schemas, caller, node }: Known): readonly Command[] {
  const writable = collectionsOf(schemas).filter((one) => writeProblem(one, caller, node.configuration) === null);
  const creating = writable.map(({ info, one }) => {
    return { id: `new ${info.name}`, title: `New ${one}`, note: 'Create', act: { to: `/config/${info.name}/new` } };
  });
  const choosing = (Object.keys(themes) as Theme[]).map((theme) => {
    return { id: `theme ${theme}`, title: themes[theme], note: 'Theme', act: () => applyTheme(theme) };
  });
  const help = { id: 'shortcuts', title: 'Keyboard shortcuts', note: 'Help', act: () => requestPalette('shortcuts') };
  const leaving = { id: 'sign-out', title: 'Sign out', note: 'Session', act: signOut };
  return [...creating, ...choosing, help, ...(caller.kind === 'anonymous' ? [] : [leaving])];
}

/** What plugins can be added to, as the gateway names it in `scopes`. */
const scopes: Readonly<Record<string, string>> = { services: 'service', routes: 'route', consumers: 'consumer' };

/** `add key-auth to users`: the plugin, and what it is added to. Null: the text is something else. */
export function readAddition(text: string): { readonly plugin: string; readonly target: string } | null {
  const [, plugin, target = ''] =
    /^add\s+(\S+)(?:\s+(?:to\s+)?(?:(?:route|service|consumer)\s+)?(.*))?$/i.exec(text.trim()) ?? [];
  return plugin === undefined ? null : { plugin: plugin.toLowerCase(), target: target.trim() };
}

/** New instances of the plugins whose name has the text: global, or of the entities that were found. */
export function additionCommands(
  { schemas, caller, node }: Known,
  text: string,
  found: readonly FoundEntity[],
): readonly Command[] {
  const addition = readAddition(text);
  const collection = allCollections(schemas).find(({ info }) => info.name === 'plugins');
  if (addition === null || collection === undefined) return [];
  if (writeProblem(collection, caller, node.configuration) !== null) return [];
  const fitting = schemas.plugins.filter(({ name }) => name.includes(addition.plugin)).slice(0, maxPlugins);
  const to = '/config/plugins/new';
  if (addition.target === '') {
    return fitting.map(({ name }) => {
      return { id: `add ${name}`, title: `Add ${name}`, note: 'to all requests', act: { to, search: { name } } };
    });
  }
  return fitting.flatMap(({ name, scopes: possible }) =>
    found.flatMap(({ entity, id, name: target }) => {
      const scope = scopes[entity];
      if (scope === undefined || !possible.includes(scope)) return [];
      const search = { name, parent: entity, parentId: id };
      return {
        id: `add ${name} ${id}`,
        title: `Add ${name} to ${scope} ${target}`,
        note: 'Plugin',
        act: { to, search },
      };
    }),
  );
}

const maxPlugins = 8;

/** Entities that were found, with the place of those that exist below a parent. */
export function entityCommands({ schemas }: Known, found: readonly FoundEntity[]): readonly Command[] {
  const collections = new Map(allCollections(schemas).map((one) => [one.info.name, one]));
  return found.flatMap(({ entity, id, name, field, value, references, enabled }) => {
    const collection = collections.get(entity);
    if (collection === undefined) return [];
    const { info, one } = collection;
    const parent =
      info.path === null
        ? references.find((other) => info.nested_under.some((place) => place.field === other.field))
        : undefined;
    const on = entity === 'plugins' ? references.map((other) => `${other.field} ${other.name}`).join(', ') : '';
    const where = value === name || field === 'id' ? on : `${field} ${value}`;
    const note = [one, where, enabled ? '' : 'off'].filter((part) => part !== '').join(' · ');
    const place: Place = {
      to: `/config/${entity}/${encodeURIComponent(id)}`,
      ...(parent === undefined ? {} : { search: { parent: parent.entity, parentId: parent.id } }),
    };
    return { id: `entity ${id}`, title: name, note, act: place };
  });
}

/** Commands whose title or note has all words, those that begin with the text first. */
export function matching(commands: readonly Command[], text: string, limit: number): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/);
  const fitting = commands.filter(({ title, note }) => {
    const whole = `${title} ${note}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const begins = ({ title }: Command): number => (title.toLowerCase().startsWith(text.toLowerCase()) ? 0 : 1);
  return fitting.toSorted((a, b) => begins(a) - begins(b)).slice(0, limit);
}
