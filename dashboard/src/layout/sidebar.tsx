import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { type Caller, nodeQuery, schemaListQuery } from '../api/queries.ts';
import { collectionsOf, groups } from '../config/collections.ts';
import { commandKey, requestPalette } from '../palette/palette-request.ts';
import { signOut } from '../session/session.ts';
import { pages } from './pages.ts';
import { applyTheme, nextTheme, onThemeChange, readTheme, type Theme } from './theme.ts';

const themeNames: Readonly<Record<Theme, string>> = {
  system: 'System theme',
  light: 'Light theme',
  dark: 'Dark theme',
};

export function Sidebar({ caller }: { readonly caller: Caller | undefined }) {
  const { data: schemas } = useQuery(schemaListQuery);
  const { data: node } = useQuery(nodeQuery);
  const collections = schemas === undefined ? [] : collectionsOf(schemas);
  return (
    <aside className="sidebar">
      <Link to="/" className="brand">
        <img src="./favicon.svg" alt="" />
        Sluicegate
      </Link>
      <button type="button" className="button search-button" onClick={() => requestPalette('search')}>
        Search
        <kbd>{commandKey} K</kbd>
      </button>
      <nav aria-label="Pages">
        <ul className="nav-group">
          {pages.map(({ to, title }) => (
            <li key={to}>
              <Link
                to={to}
                className="nav-link"
                activeOptions={{ exact: to === '/', includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                {title}
              </Link>
            </li>
          ))}
        </ul>
        {groups.map((group) => {
          const shown = collections.filter((collection) => collection.group === group);
          if (shown.length === 0) return null;
          return (
            <div key={group} className="nav-group">
              <p className="nav-title">{group}</p>
              <ul>
                {shown.map(({ info, title }) => (
                  <li key={info.name}>
                    <Link
                      to="/config/$entity"
                      params={{ entity: info.name }}
                      className="nav-link"
                      activeProps={{ 'aria-current': 'page' }}
                    >
                      {title}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <div className="sidebar-foot">
        <ThemeButton />
        {caller !== undefined && (
          <div className="row">
            <span className="truncate" title={rightsOf(caller)}>
              {caller.kind === 'anonymous' ? 'No sign-in' : caller.name} <span className="badge">{caller.role}</span>
            </span>
            {caller.kind !== 'anonymous' && (
              <button type="button" className="button plain tight" onClick={signOut}>
                Sign out
              </button>
            )}
          </div>
        )}
        {node !== undefined && (
          <span className="truncate muted" title={node.hostname}>
            {node.sluicegate_version} on {node.hostname}
          </span>
        )}
      </div>
    </aside>
  );
}

function ThemeButton() {
  const theme = useSyncExternalStore(onThemeChange, readTheme);
  return (
    <button type="button" className="button plain tight" onClick={() => applyTheme(nextTheme(theme))}>
      {themeNames[theme]}
    </button>
  );
}

function rightsOf({ role, tag_patterns: patterns }: Caller): string {
  if (role === 'admin') return 'May change everything';
  if (role === 'read') return 'May read';
  return `May change entities with the tags ${(patterns ?? []).join(', ') || '(none)'}`;
}
