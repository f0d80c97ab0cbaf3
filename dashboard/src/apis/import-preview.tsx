import type { ImportChange, ImportResult } from './import-document.ts';

interface ImportPreviewProps {
  readonly preview: ImportResult;
  readonly busy: boolean;
  readonly onShow: (place: string) => void;
  readonly onImport: () => void;
}

const titles: Readonly<Record<ImportChange['entity'], string>> = {
  services: 'Service',
  routes: 'Routes',
  plugins: 'Plugins',
  apis: 'API',
};
const order = Object.keys(titles) as readonly ImportChange['entity'][];
const words = { create: 'new', update: 'changes', unchanged: 'unchanged' } as const;
const colours = { create: 'ok', update: 'warn', unchanged: '' } as const;
const number = new Intl.NumberFormat();

/** What an import would write, and what it leaves out. */
export function ImportPreview({ preview, busy, onShow, onImport }: ImportPreviewProps) {
  const { created, updated, unchanged, changes, warnings } = preview;
  return (
    <div className="stack import-preview" role="status">
      <h3>
        {number.format(created)} new, {number.format(updated)} changed, {number.format(unchanged)} unchanged
      </h3>
      {warnings.length > 0 && (
        <details className="more" open>
          <summary>
            {number.format(warnings.length)} {warnings.length === 1 ? 'warning' : 'warnings'}
          </summary>
          <ul className="import-warnings">
            {warnings.map(({ place, message }) => (
              <li key={`${place} ${message}`} className="small">
                {message}{' '}
                <button type="button" className="button tight" onClick={() => onShow(place)}>
                  <code>{place}</code>
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
      {order.map((entity) => {
        const list = changes.filter((change) => change.entity === entity);
        return list.length === 0 ? null : <Changes key={entity} title={titles[entity]} list={list} />;
      })}
      <div>
        <button type="button" className="button primary" disabled={busy} onClick={onImport}>
          {busy ? 'Importing…' : `Import ${number.format(created + updated)} changes`}
        </button>
      </div>
    </div>
  );
}

function Changes({ title, list }: { readonly title: string; readonly list: readonly ImportChange[] }) {
  return (
    <details className="more" open={list.length <= 20}>
      <summary>
        {title} <span className="badge">{number.format(list.length)}</span>
      </summary>
      <ul className="import-changes">
        {list.map((change) => (
          <li key={change.id}>
            <span className={`badge ${colours[change.operation]}`}>{words[change.operation]}</span>
            <strong>{change.name}</strong>
            {change.route !== null && <span className="muted">on {change.route}</span>}
            <dl className="import-fields small">
              {Object.entries(change.fields).map(([name, value]) => (
                <div key={name}>
                  <dt className="muted">{name}</dt>
                  <dd>
                    <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
                    {change.changed.includes(name) && <span className="badge warn">changes</span>}
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
    </details>
  );
}
