import { Link } from '@tanstack/react-router';
import type { Cause, Why } from '../records.ts';
import { visibleText } from '../visible-text.ts';
import { WireText } from '../wire-text.tsx';

const kinds: Readonly<Record<string, string>> = {
  routes: 'route',
  services: 'service',
  upstreams: 'upstream',
  plugins: 'plugin',
  consumers: 'consumer',
};

/** Why the answer is an error, with a link to what caused it. */
export function WhyBox({ why: { sentence, cause }, status }: { readonly why: Why; readonly status: number }) {
  return (
    <section className={`why ${status < 500 ? 'warn' : ''}`} aria-labelledby="why">
      <h2 id="why">Why {status}?</h2>
      <p>
        <WireText text={sentence} />
      </p>
      {cause !== null && <CauseLine cause={cause} />}
    </section>
  );
}

function CauseLine({ cause: { entity, id, name, field, settings } }: { readonly cause: Cause }) {
  if (entity !== null && id !== null) {
    return (
      <p>
        Caused by the {kinds[entity] ?? entity}{' '}
        <Link
          to="/config/$entity/$id"
          params={{ entity, id }}
          {...(field === null ? {} : { hash: `field-${field.replaceAll('.', '-')}` })}
        >
          {visibleText(name ?? id)}
        </Link>
        {field !== null && (
          <>
            , field <code>{field}</code>
          </>
        )}
        .
      </p>
    );
  }
  if (settings.length === 0) return null;
  return (
    <p>
      Caused by {settings.length === 1 ? 'the setting' : 'the settings'} of the node{' '}
      {settings.map((setting, at) => (
        <span key={setting}>
          {at > 0 && ', '}
          <code>{setting}</code>
        </span>
      ))}
      .
    </p>
  );
}
