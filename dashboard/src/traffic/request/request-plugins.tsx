import { durationText } from '../format.ts';
import type { PluginView } from '../records.ts';
import { visibleText } from '../visible-text.ts';
import { WireText } from '../wire-text.tsx';
import { EntityLink } from './request-facts.tsx';

/** What each plugin decided and changed, in the order in which they run. */
export function RequestPlugins({ plugins }: { readonly plugins: readonly PluginView[] }) {
  return (
    <section className="card" aria-labelledby="plugins">
      <h2 id="plugins">Plugins</h2>
      {plugins.length === 0 ? (
        <p>No plugin applies to this request.</p>
      ) : (
        <div className="table-scroll">
          <table className="data-table">
            <thead>
              <tr>
                <th scope="col">Plugin</th>
                <th scope="col" className="scope">
                  Scope
                </th>
                <th scope="col">Decided, changed</th>
                <th scope="col" className="number">
                  Took
                </th>
              </tr>
            </thead>
            <tbody>
              {plugins.map((plugin) => (
                <PluginRow key={plugin.id} plugin={plugin} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function PluginRow({ plugin: { name, id, scope, ran, because, ms, phases } }: { readonly plugin: PluginView }) {
  return (
    <tr>
      <th scope="row">
        <EntityLink entity="plugins" id={id} name={name} />
      </th>
      <td className="scope">{scope.map(visibleText).join(', ')}</td>
      <td>
        {ran ? (
          <ul>
            {phases.map(({ phase, decided, changed }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the phases of a record do not change
              <li key={at}>
                <span className="muted">{phase}</span>{' '}
                <span className={decided === 'went on' ? '' : `badge ${decided === 'failed' ? 'danger' : 'warn'}`}>
                  {visibleText(decided)}
                </span>
                {changed.length > 0 && ': '}
                {changed.map((change, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <span key={index}>
                    {index > 0 && '; '}
                    <WireText text={change} max={300} />
                  </span>
                ))}
              </li>
            ))}
          </ul>
        ) : (
          <span className="muted">did not run: {visibleText(because ?? 'not known')}</span>
        )}
      </td>
      <td className="number mono">{ran ? durationText(ms) : ''}</td>
    </tr>
  );
}
