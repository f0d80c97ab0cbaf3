import type { PortalFailure } from './portal-client.ts';

export function Waiting() {
  return (
    <div className="state" role="status">
      <span className="visually-hidden">Loading</span>
      <div className="skeleton" style={{ width: '12rem' }} />
    </div>
  );
}

export function Failure({ error, again }: { readonly error: PortalFailure; readonly again: () => void }) {
  return (
    <div className="banner error" role="alert">
      {error.message}{' '}
      <button type="button" className="button tight" onClick={again}>
        Try again
      </button>
    </div>
  );
}
