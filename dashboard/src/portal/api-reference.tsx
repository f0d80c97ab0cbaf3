import { ReferenceView } from '../reference/reference-view.tsx';
import { type PortalReference, useRead } from './portal-client.ts';
import { Failure, Waiting } from './states.tsx';

interface ApiReferenceProps {
  readonly id: string;
  readonly consumerKey: string;
  readonly expired: () => void;
}

export function ApiReference({ id, consumerKey, expired }: ApiReferenceProps) {
  const { data, error, again } = useRead<PortalReference>(`apis/${id}`, consumerKey, expired);
  return (
    <>
      <p className="crumbs">
        <a href="#/">APIs</a>
      </p>
      {data === null && error === null && <Waiting />}
      {error !== null && (
        <>
          <h1>API</h1>
          <Failure error={error} again={again} />
        </>
      )}
      {data !== null && (
        <>
          <h1>{data.title ?? data.api.name}</h1>
          {data.version !== null && (
            <p>
              <span className="badge accent">Version {data.version}</span>
            </p>
          )}
          <ReferenceView reference={data} />
        </>
      )}
    </>
  );
}
